#include "model/files/tokenizer_files.h"

#include "base/arena.h"
#include "model/files/source.h"
#include "model/tokenizer/spm_check.h"
#include "model/tokenizer/tokenizer.h"
#include "model/tokenizer/tokenizer_config.h"
#include "model/tokenizer/vocab.h"

#define CONFIG "tokenizer_config.json"
#define TARGET_VOCAB "target_vocab.json"

enum mt_status mt_tokenizer_config_read(const struct mt_source *source, struct mt_arena *arena,
                                        struct mt_tokenizer_config *out, struct mt_error *err)
{
    struct mt_document file = {0};
    enum mt_status status = MT_OK;
    if (mt_source_has(source, CONFIG))
        status = mt_source_read(source, CONFIG, MT_TOKENIZER_CONFIG_MAX_BYTES, &file, err);
    if (!status)
        status = mt_tokenizer_config_parse(file.bytes, file.length, file.path, arena, out, err);
    mt_document_finish(&file);
    return status;
}

struct documents {
    struct mt_document source_spm, target_spm, vocab, target_vocab;
};

static bool has_separate_vocabs(const struct mt_source *source,
                                const struct mt_tokenizer_config *config)
{
    return config->separate_vocabs == MT_SWITCH_ON ||
           (config->separate_vocabs == MT_SWITCH_UNSAID && mt_source_has(source, TARGET_VOCAB));
}

static enum mt_status read_documents(const struct mt_source *source,
                                     const struct mt_tokenizer_config *config,
                                     struct documents *out, struct mt_error *err)
{
    enum mt_status status =
        mt_source_read(source, "source.spm", MT_SPM_MAX_FILE_BYTES, &out->source_spm, err);
    if (!status)
        status = mt_source_read(source, "target.spm", MT_SPM_MAX_FILE_BYTES, &out->target_spm, err);
    if (!status)
        status = mt_source_read(source, "vocab.json", MT_VOCAB_MAX_FILE_BYTES, &out->vocab, err);
    if (!status && has_separate_vocabs(source, config))
        status =
            mt_source_read(source, TARGET_VOCAB, MT_VOCAB_MAX_FILE_BYTES, &out->target_vocab, err);
    return status;
}

static struct mt_tokenizer_file file_of(const struct mt_document *document)
{
    return (struct mt_tokenizer_file){
        .path = document->path, .bytes = document->bytes, .length = document->length};
}

static enum mt_status open_documents(const struct mt_tokenizer_config *config,
                                     const struct documents *documents, struct mt_tokenizer **out,
                                     struct mt_error *err)
{
    const struct mt_tokenizer_files files = {.source_spm = file_of(&documents->source_spm),
                                             .target_spm = file_of(&documents->target_spm),
                                             .vocab = file_of(&documents->vocab),
                                             .target_vocab = file_of(&documents->target_vocab)};
    return mt_tokenizer_open(config, &files, out, err);
}

enum mt_status mt_tokenizer_read(const struct mt_source *source, struct mt_tokenizer **out,
                                 struct mt_error *err)
{
    struct mt_arena *arena = NULL;
    struct mt_tokenizer_config config;
    struct documents documents = {0};
    enum mt_status status = mt_arena_create(0, &arena, err);
    if (!status)
        status = mt_tokenizer_config_read(source, arena, &config, err);
    if (!status)
        status = read_documents(source, &config, &documents, err);
    if (!status)
        status = open_documents(&config, &documents, out, err);
    mt_document_finish(&documents.source_spm);
    mt_document_finish(&documents.target_spm);
    mt_document_finish(&documents.vocab);
    mt_document_finish(&documents.target_vocab);
    mt_arena_destroy(arena);
    return status;
}
