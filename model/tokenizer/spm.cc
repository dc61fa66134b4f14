extern "C" {
#include "model/tokenizer/spm.h"
#include "model/tokenizer/spm_check.h"
}

#include <sentencepiece_processor.h>

#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <vector>

static void append_field(std::string &message, int number, std::string_view bytes)
{
    message.push_back(static_cast<char>(number << 3 | 2));
    size_t length = bytes.size();
    for (; length > 127; length >>= 7)
        message.push_back(static_cast<char>(length | 128));
    message.push_back(static_cast<char>(length));
    message.append(bytes);
}

// On a big-endian machine libsentencepiece 0.1.97 compares the number of the charsmap's trie's bytes with what is there before
// it turns that number round, and afterwards once more. Of a multiple of 65536 the first is smaller. So the trie is made
// that long, in an appendix: of a field that is there twice protobuf takes the last.
static std::string for_big_endian(const char *bytes, size_t length, const char *what)
{
    std::string file(bytes, length);
    struct mt_spm_info info = {};
    struct mt_error err = {};
    if (mt_spm_check(bytes, length, what, &info, &err) || !info.charsmap.n_units)
        return file;
    const size_t n_bytes = 4 * info.charsmap.n_units,
                 n_padded = (n_bytes + 0xFFFF) & ~size_t{0xFFFF};
    std::string charsmap, normalizer;
    for (int shift = 0; shift < 32; shift += 8)
        charsmap.push_back(static_cast<char>(n_padded >> shift));
    charsmap.append(reinterpret_cast<const char *>(info.charsmap.units), n_bytes);
    charsmap.append(n_padded - n_bytes, '\0');
    charsmap.append(info.charsmap.replacements, info.charsmap.replacement_bytes);
    append_field(normalizer, 2, charsmap); // NormalizerSpec.precompiled_charsmap
    append_field(file, 3, normalizer);     // ModelProto.normalizer_spec
    return file;
}

static sentencepiece::util::Status load(sentencepiece::SentencePieceProcessor &processor,
                                        const char *bytes, size_t length, const char *what)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
               ? processor.LoadFromSerializedProto(std::string_view(bytes, length))
               : processor.LoadFromSerializedProto(for_big_endian(bytes, length, what));
}

struct mt_spm {
    sentencepiece::SentencePieceProcessor processor;

    // Opened for decoding: the file, from which the first encoding makes a processor that can.
    bool is_late = false;
    std::string file;
    mutable std::once_flag once;
    mutable sentencepiece::SentencePieceProcessor late;
    mutable sentencepiece::util::Status late_status;

    const sentencepiece::SentencePieceProcessor &encoder() const
    {
        if (!is_late)
            return processor;
        std::call_once(once, [this] { late_status = load(late, file.data(), file.size(), ""); });
        return late;
    }
};

// Runs work and turns whatever it throws into a status.
template <typename Work>
static enum mt_status guarded(const char *what, struct mt_error *err, Work work) noexcept
{
    try {
        return work();
    } catch (const std::bad_alloc &) {
        return mt_fail(err, MT_MEMORY, "%s: out of memory in libsentencepiece", what);
    } catch (const std::exception &e) {
        return mt_fail(err, MT_FORMAT, "%s: libsentencepiece failed: %s", what, e.what());
    } catch (...) {
        return mt_fail(err, MT_FORMAT, "%s: libsentencepiece failed", what);
    }
}

extern "C" enum mt_status mt_spm_open(const char *bytes, size_t length, const char *what,
                                      struct mt_spm **out, struct mt_error *err)
{
    return guarded(what, err, [&] {
        auto spm = std::make_unique<mt_spm>();
        auto status = load(spm->processor, bytes, length, what);
        if (!status.ok())
            return mt_fail(err, MT_FORMAT, "%s: libsentencepiece refuses it: %s", what,
                           status.error_message());
        *out = spm.release();
        return MT_OK;
    });
}

// Joining pieces asks for no more than what each piece is, which is the same for every type of
// model, and only the types that cut by a vocabulary build tries of it. So the copy that decodes is
// loaded as a model that cuts into characters. Protobuf allows that to be said in an appendix: of a
// field that is there twice the last counts, and of a message that is, their union. A model with
// samples to test itself with would fail them: it is loaded as it is.
extern "C" enum mt_status mt_spm_open_for_decoding(const char *bytes, size_t length,
                                                   const char *what, struct mt_spm **out,
                                                   struct mt_error *err)
{
    static const char cut_into_characters[] = {
        2 << 3 | 2, 2, // ModelProto.trainer_spec, of 2 bytes
        3 << 3 | 0, 4, // TrainerSpec.model_type = CHAR
    };
    const enum mt_status status = guarded(what, err, [&] {
        auto spm = std::make_unique<mt_spm>();
        spm->file.reserve(length + sizeof cut_into_characters);
        spm->file.assign(bytes, length);
        spm->file.append(cut_into_characters, sizeof cut_into_characters);
        if (!load(spm->processor, spm->file.data(), spm->file.size(), what).ok())
            return MT_FORMAT;
        spm->file.resize(length);
        spm->is_late = true;
        *out = spm.release();
        return MT_OK;
    });
    return status == MT_FORMAT ? mt_spm_open(bytes, length, what, out, err) : status;
}

extern "C" void mt_spm_close(struct mt_spm *spm)
{
    delete spm;
}

extern "C" enum mt_status mt_spm_encode(const struct mt_spm *spm, const char *text, size_t length,
                                        mt_spm_emit *emit, void *context, struct mt_error *err)
{
    return guarded("tokenizing", err, [&] {
        const auto &encoder = spm->encoder();
        if (!spm->late_status.ok())
            return mt_fail(err, MT_FORMAT, "tokenizing: libsentencepiece refuses the file: %s",
                           spm->late_status.error_message());
        sentencepiece::ImmutableSentencePieceText result;
        auto status = encoder.Encode(std::string_view(text, length), result.mutable_proto());
        if (!status.ok())
            return mt_fail(err, MT_FORMAT, "tokenizing: libsentencepiece failed: %s",
                           status.error_message());
        const size_t n = result.pieces_size();
        for (size_t i = 0; i < n; i++) {
            const auto piece = result.pieces(static_cast<int>(i));
            const std::string &bytes = piece.piece();
            const struct mt_spm_piece view = {bytes.data(), bytes.size(), piece.begin(),
                                              piece.end(),
                                              encoder.IsByte(static_cast<int>(piece.id()))};
            if (enum mt_status failed = emit(context, &view))
                return failed;
        }
        return MT_OK;
    });
}

extern "C" enum mt_status mt_spm_decode(const struct mt_spm *spm, const char *const *pieces,
                                        size_t n, struct mt_span *spans, struct mt_text *out,
                                        struct mt_error *err)
{
    return guarded("detokenizing", err, [&] {
        sentencepiece::ImmutableSentencePieceText result;
        const std::vector<std::string_view> views(pieces, pieces + n);
        auto status = spm->processor.Decode(views, result.mutable_proto());
        if (!status.ok())
            return mt_fail(err, MT_FORMAT, "detokenizing: libsentencepiece failed: %s",
                           status.error_message());
        mt_text_append(out, result.text().data(), result.text().size());
        for (size_t i = 0; i < n; i++) {
            const auto piece = result.pieces(static_cast<int>(i));
            spans[i] = {piece.begin(), piece.end()};
        }
        return MT_OK;
    });
}
