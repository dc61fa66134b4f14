extern "C" {
#include "server/detect.h"
}

// CLD2's header needs it, but does not say so.
#include <cstdio>

#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>

#include <cstring>
#include <new>
#include <string>

// Documented in CLD2's header, but defined inside: an answer for short texts too.
static const int best_effort = 0x4000;

struct ranking {
    CLD2::Language languages[3];
    int percents[3];
    bool is_reliable;
};

static struct ranking rank(const char *text, size_t length, bool is_html, const char *hint)
{
    struct ranking ranking = {};
    const CLD2::CLDHints hints = {hint, nullptr, CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE};
    double scores[3];
    int n_text_bytes, n_valid;
    CLD2::ExtDetectLanguageSummaryCheckUTF8(
        text, static_cast<int>(length), !is_html, &hints, best_effort, ranking.languages,
        ranking.percents, scores, nullptr, &n_text_bytes, &ranking.is_reliable, &n_valid);
    return ranking;
}

static bool has_same_language(const char *a, const char *b)
{
    const size_t n = std::strcspn(a, "-");
    return n == std::strcspn(b, "-") && std::memcmp(a, b, n) == 0;
}

// The one that serves the code; else one that differs in script or region alone, which short texts
// leave open.
static const char *find(const struct mt_detect_languages *languages, const char *code)
{
    for (size_t i = 0; i < languages->n; i++)
        if (mt_language_matches(code, languages->codes[i]))
            return languages->codes[i];
    for (size_t i = 0; i < languages->n; i++)
        if (has_same_language(code, languages->codes[i]))
            return languages->codes[i];
    return languages->n == 0 ? code : nullptr;
}

static bool name_language(CLD2::Language language, char out[MT_LANGUAGE_BYTES])
{
    const enum mt_status status = mt_language_parse(CLD2::LanguageCode(language), out, nullptr);
    if (status == MT_MEMORY)
        throw std::bad_alloc();
    return status == MT_OK;
}

// CLD2 ranks by the part of the text.
static bool choose(const struct ranking &ranking, const struct mt_detect_languages *languages,
                   double weight, struct mt_detection *out)
{
    for (int i = 0; i < 3; i++) {
        char code[MT_LANGUAGE_BYTES];
        if (ranking.languages[i] == CLD2::UNKNOWN_LANGUAGE || ranking.percents[i] <= 0 ||
            !name_language(ranking.languages[i], code))
            continue;
        const char *found = find(languages, code);
        if (found == nullptr)
            continue;
        std::strcpy(out->language, found);
        out->confidence = ranking.percents[i] * weight * (ranking.is_reliable ? 1 : 0.5);
        return true;
    }
    return false;
}

// The languages as an HTTP header Content-Language names them.
static std::string hint_of(const struct mt_detect_languages *languages)
{
    std::string hint;
    for (size_t i = 0; i < languages->n; i++)
        hint.append(i > 0 ? "," : "").append(languages->codes[i]);
    return hint;
}

// Hints only where CLD2 finds none of the languages by itself: they turn "Hello" into German.
static void detect(const char *text, size_t length, bool is_html,
                   const struct mt_detect_languages *languages, struct mt_detection *out)
{
    const char *first = languages->n > 0 ? languages->codes[0] : "en";
    std::strcpy(out->language, first);
    out->confidence = 0;
    if (choose(rank(text, length, is_html, nullptr), languages, 1, out))
        return;
    const std::string hint = hint_of(languages);
    if (!hint.empty())
        choose(rank(text, length, is_html, hint.c_str()), languages, 0.5, out);
}

extern "C" enum mt_status mt_detect(const char *text, size_t length, bool is_html,
                                    const struct mt_detect_languages *languages,
                                    struct mt_detection *out, struct mt_error *err)
{
    if (length > MT_DETECT_MAX_BYTES) {
        length = MT_DETECT_MAX_BYTES;
        while ((static_cast<unsigned char>(text[length]) & 0xC0u) == 0x80u)
            length--;
    }
    try {
        detect(text, length, is_html, languages, out);
        return MT_OK;
    } catch (const std::exception &) {
        return mt_fail(err, MT_MEMORY, "out of memory detecting the language of %zu bytes", length);
    }
}
