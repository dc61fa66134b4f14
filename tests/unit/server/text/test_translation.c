#include "model/batch.h"
#include "model/model.h"
#include "server/text/translation.h"
#include "tests/unit/model/tokenizer/tokenizer_dir.h"

#include <math.h>

static struct mt_model *model;
static struct mt_splitter *splitter;

static struct mt_model *open_model(const char *directory)
{
    struct mt_model *opened;
    struct mt_error err = {0};
    ck_assert_msg(
        !mt_model_open(directory, &(struct mt_model_options){.precision = MT_FP32}, &opened, &err),
        "%s", err.message);
    return opened;
}

static void open_all(void)
{
    model = open_model(en_de());
    ck_assert_int_eq(mt_splitter_create(&splitter, NULL), MT_OK);
}

static void close_all(void)
{
    mt_splitter_destroy(splitter);
    mt_model_close(model);
}

static struct mt_translation_options greedy(void)
{
    return (struct mt_translation_options){
        .decoding = {.beam_size = 1, .max_decoding_length = 12},
        .splitter = splitter,
        .source_lang = "en",
    };
}

static struct mt_translation *create_with(const char *text,
                                          const struct mt_translation_options *options)
{
    struct mt_translation *t;
    struct mt_error err = {0};
    ck_assert_msg(!mt_translation_create(model, text, strlen(text), options, &t, &err), "%s",
                  err.message);
    return t;
}

static struct mt_translation *create(const char *text)
{
    struct mt_translation_options options = greedy();
    return create_with(text, &options);
}

static enum mt_status try_to_create(const char *text, const struct mt_translation_options *options,
                                    struct mt_error *err)
{
    struct mt_translation *t;
    return mt_translation_create(model, text, strlen(text), options, &t, err);
}

/* Decodes every sentence. */
static void run(struct mt_translation *t)
{
    struct mt_batch *batch;
    size_t n = mt_translation_n_sentences(t), n_admitted = 0, n_finished = 0;
    ck_assert_int_eq(
        mt_batch_create(model, &(struct mt_batch_options){.max_rows = 64}, &batch, NULL), MT_OK);
    while (n_finished < n) {
        while (n_admitted < n && mt_batch_admit(batch, mt_translation_part(t, n_admitted).sentence))
            n_admitted++;
        mt_batch_step(batch);
        while (mt_batch_take_finished(batch))
            n_finished++;
    }
    mt_batch_destroy(batch);
}

/* The caller frees. */
static char *render(const struct mt_translation *t, size_t rank)
{
    struct mt_text out = {0};
    struct mt_error err = {0};
    ck_assert_msg(!mt_translation_render(t, rank, &out, &err), "%s", err.message);
    return out.bytes;
}

static void expect_source(const struct mt_translation *t, size_t index, const char *expected)
{
    size_t length;
    const char *text = mt_translation_text(t, &length);
    struct mt_translation_part part = mt_translation_part(t, index);
    ck_assert_uint_le(part.end, length);
    ck_assert_uint_eq(part.end - part.begin, strlen(expected));
    ck_assert_msg(!memcmp(text + part.begin, expected, strlen(expected)), "part %zu: %.*s", index,
                  (int)(part.end - part.begin), text + part.begin);
}

/* What a sentence alone becomes. */
static void append_alone(struct mt_text *out, const char *sentence)
{
    struct mt_translation_options options = greedy();
    options.split = MT_SPLIT_OFF;
    struct mt_translation *t = create_with(sentence, &options);
    run(t);
    char *text = render(t, 0);
    mt_text_append_string(out, text);
    free(text);
    mt_translation_destroy(t);
}

/* Decodes it, and finds gaps and what the sentences between them become alone: {gap, sentence, gap,
 * ..., NULL}. */
static void expect_alone(struct mt_translation *t, const char *const *parts)
{
    struct mt_text expected = {0};
    for (size_t i = 0; parts[i]; i++) {
        if (i % 2)
            append_alone(&expected, parts[i]);
        else
            mt_text_append_string(&expected, parts[i]);
    }
    run(t);
    char *found = render(t, 0);
    ck_assert_str_eq(found, expected.bytes);
    free(found);
    mt_text_finish(&expected);
}

/* --- sentences and gaps --- */

START_TEST(keeps_every_blank_between_sentences)
{
    struct mt_translation *t = create(" \tHello.  How are you?\r\n\n  I am here.\xC2\xA0 \n");
    ck_assert_uint_eq(mt_translation_n_sentences(t), 3);
    expect_source(t, 0, "Hello.");
    expect_source(t, 1, "How are you?");
    expect_source(t, 2, "I am here.");
    expect_alone(t, (const char *const[]){" \t", "Hello.", "  ", "How are you?", "\r\n\n  ",
                                          "I am here.", "\xC2\xA0 \n", NULL});
    mt_translation_destroy(t);
}
END_TEST

START_TEST(translates_a_real_sentence)
{
    struct mt_translation *t = create("Where is the train station?");
    run(t);
    char *text = render(t, 0);
    ck_assert_str_eq(text, "Wo ist der Bahnhof?");
    free(text);
    mt_translation_destroy(t);
}
END_TEST

START_TEST(blank_texts_translate_to_themselves)
{
    static const char *const blanks[] = {
        "", " ", "\n\n", "\t \r\n", "\xE3\x80\x80", "\xEF\xBB\xBF", "\x01\x02"};
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++) {
        struct mt_translation *t = create(blanks[i]);
        ck_assert_uint_eq(mt_translation_n_sentences(t), 0);
        ck_assert_uint_eq(mt_translation_n_ranks(t), 1);
        ck_assert_float_eq(mt_translation_score(t, 0), 0);
        ck_assert_uint_eq(mt_translation_n_source_tokens(t), 0);
        char *text = render(t, 0);
        ck_assert_str_eq(text, blanks[i]);
        free(text);
        mt_translation_destroy(t);
    }
}
END_TEST

START_TEST(splits_as_the_mode_says)
{
    static const struct {
        enum mt_split split;
        size_t n_sentences;
    } cases[] = {{MT_SPLIT_ON, 3}, {MT_SPLIT_NEWLINES, 2}, {MT_SPLIT_OFF, 1}};
    for (size_t i = 0; i < 3; i++) {
        struct mt_translation_options options = greedy();
        options.split = cases[i].split;
        struct mt_translation *t = create_with("I run. You run.\nWe run.", &options);
        ck_assert_uint_eq(mt_translation_n_sentences(t), cases[i].n_sentences);
        mt_translation_destroy(t);
    }
}
END_TEST

START_TEST(works_without_a_splitter_of_the_caller)
{
    struct mt_translation_options options = greedy();
    options.splitter = NULL;
    options.source_lang = NULL;
    struct mt_translation *t = create_with("I run. You run.", &options);
    ck_assert_uint_eq(mt_translation_n_sentences(t), 2);
    mt_translation_destroy(t);
}
END_TEST

START_TEST(a_script_without_blanks_gets_them_where_the_target_has_them)
{
    struct mt_translation *t = create("\xE4\xBD\xA0\xE5\xA5\xBD\xE3\x80\x82\xE8\xB5\xB0\xE5\x90\xA7"
                                      "\xE3\x80\x82");
    ck_assert_uint_eq(mt_translation_n_sentences(t), 2);
    expect_alone(t, (const char *const[]){"", "\xE4\xBD\xA0\xE5\xA5\xBD\xE3\x80\x82", " ",
                                          "\xE8\xB5\xB0\xE5\x90\xA7\xE3\x80\x82", NULL});
    mt_translation_destroy(t);
}
END_TEST

START_TEST(refuses_more_sentences_than_allowed)
{
    struct mt_translation_options options = greedy();
    struct mt_error err = {0};
    options.max_sentences = 2;
    ck_assert_int_eq(try_to_create("A cat. A dog. A cow.", &options, &err), MT_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "more than 2"));
}
END_TEST

struct counted {
    size_t n, n_most, end;
};

static enum mt_status count_part(void *context, const struct mt_translation_part *part,
                                 struct mt_error *error)
{
    struct counted *counted = context;
    ck_assert_uint_gt(part->source_tokens->n, 0);
    ck_assert_uint_eq(mt_sentence_n_source(part->sentence), part->source_tokens->n);
    counted->end = part->end;
    return ++counted->n > counted->n_most ? mt_fail(error, MT_LIMIT, "too many for me") : MT_OK;
}

START_TEST(no_sentence_is_made_behind_one_that_is_not_admitted)
{
    struct counted counted = {.n_most = 9};
    struct mt_translation_options options = greedy();
    struct mt_error err;
    options.admit = count_part;
    options.admit_context = &counted;
    mt_translation_destroy(create_with("One. Two. Three. Four.", &options));
    ck_assert_uint_eq(counted.n, 4);
    counted = (struct counted){.n_most = 1};
    ck_assert_int_eq(try_to_create("One. Two. Three. Four.", &options, &err), MT_LIMIT);
    ck_assert_str_eq(err.message, "too many for me");
    ck_assert_uint_eq(counted.n, 2);
    ck_assert_uint_eq(counted.end, strlen("One. Two."));
}
END_TEST

START_TEST(passes_on_what_is_wrong_with_the_options)
{
    struct mt_translation_options options = greedy();
    struct mt_error err = {0};
    options.decoding.beam_size = 17;
    ck_assert_int_eq(try_to_create("A cat.", &options, &err), MT_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "beam_size"));
}
END_TEST

/* --- sentences too long for the model --- */

static char *repeat(const char *piece, size_t n, const char *end)
{
    struct mt_text text = {0};
    for (size_t i = 0; i < n; i++)
        mt_text_append_string(&text, piece);
    mt_text_append_string(&text, end);
    return text.bytes;
}

/* Every piece fits, and between them only blanks are left out. */
static void expect_whole(const struct mt_translation *t)
{
    size_t length, at = 0, n = mt_translation_n_sentences(t);
    const char *text = mt_translation_text(t, &length);
    for (size_t i = 0; i <= n; i++) {
        size_t begin = i < n ? mt_translation_part(t, i).begin : length;
        struct mt_range gap = mt_range_trim(text, at, begin);
        ck_assert_uint_eq(gap.begin, gap.end);
        if (i == n)
            break;
        struct mt_translation_part part = mt_translation_part(t, i);
        ck_assert(part.was_cut);
        ck_assert_uint_le(part.source_tokens->n, mt_model_hparams(model)->max_positions);
        ck_assert_uint_lt(part.begin, part.end);
        ck_assert_uint_ne((unsigned char)text[part.begin] & 0xC0u, 0x80u);
        at = part.end;
    }
}

START_TEST(cuts_what_is_too_long_and_drops_nothing)
{
    static const struct {
        const char *piece;
        size_t n, min_parts, max_parts;
    } cases[] = {
        {"the cat and ", 1000, 6, 8},                       /* at blanks */
        {"Donaudampfschiffahrt\xE6\x97\xA5", 1000, 12, 40}, /* between tokens */
        {"\xE6\x97\xA5\xE6\x9C\xAC", 50000, 1, 9},          /* unknown: a long run is one token */
        {"\xC3\xA4\xE6\x97\xA5", 3000, 6, 24},
        {"a ", 200000, 390, 420}, /* tokenized in blocks */
        {"\xF0\x9F\x98\x80 x", 3000, 6, 24},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = repeat(cases[i].piece, cases[i].n, "");
        struct mt_translation *t = create(text);
        size_t n = mt_translation_n_sentences(t);
        ck_assert_msg(n >= cases[i].min_parts && n <= cases[i].max_parts, "%s: %zu parts",
                      cases[i].piece, n);
        expect_whole(t);
        mt_translation_destroy(t);
        free(text);
    }
}
END_TEST

/* Alone, and with words around it; in one block to be tokenized, at the end of one,
 * and in several. */
START_TEST(a_word_that_fits_no_sentence_stays_as_it_is)
{
    static const size_t counts[] = {600, 30000, 65536, 65540, 99000, 200000};
    static const struct {
        const char *before, *behind;
        size_t n_parts;
    } cases[] = {{"", "", 0}, {" ", "\n", 0}, {"I see ", " here.", 2}, {"I see", "", 1}};
    size_t count = counts[(size_t)_i % 6];
    const char *piece = (size_t)_i < 6 ? "7" : "\xC3\xA4";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *word = repeat(piece, count, ""), *text = NULL;
        ck_assert_int_ge(asprintf(&text, "%s%s%s", cases[i].before, word, cases[i].behind), 0);
        struct mt_translation *t = create(text);
        ck_assert_uint_eq(mt_translation_n_sentences(t), cases[i].n_parts);
        for (size_t k = 0; k < cases[i].n_parts; k++)
            ck_assert_uint_lt(mt_translation_part(t, k).source_tokens->n, 10);
        run(t);
        char *found = render(t, 0);
        if (cases[i].n_parts == 0)
            ck_assert_str_eq(found, text);
        ck_assert_ptr_nonnull(strstr(found, word));
        mt_translation_destroy(t);
        free(found);
        free(word);
        free(text);
    }
}
END_TEST

START_TEST(cuts_between_words_where_there_are_blanks)
{
    char *text = repeat("together with ", 1000, "");
    struct mt_translation *t = create(text);
    for (size_t i = 0; i + 1 < mt_translation_n_sentences(t); i++) {
        struct mt_translation_part part = mt_translation_part(t, i);
        ck_assert_int_eq(text[part.end], ' ');
        /* Full pieces: what is left of the limit is less than a few words. */
        ck_assert_uint_gt(part.source_tokens->n, mt_model_hparams(model)->max_positions - 20);
    }
    mt_translation_destroy(t);
    free(text);
}
END_TEST

START_TEST(a_sentence_that_just_fits_is_not_cut)
{
    size_t max_tokens = mt_model_hparams(model)->max_positions;
    struct mt_translation_options options = greedy();
    options.split = MT_SPLIT_OFF;
    for (size_t n = max_tokens - 1; n <= max_tokens; n++) {
        char *text = repeat("and ", n, "");
        struct mt_translation *t = create_with(text, &options);
        bool fits = n + 1 <= max_tokens; /* with eos */
        ck_assert_uint_eq(mt_translation_n_sentences(t), fits ? 1 : 2);
        ck_assert_int_eq(mt_translation_part(t, 0).was_cut, !fits);
        mt_translation_destroy(t);
        free(text);
    }
}
END_TEST

START_TEST(a_cut_sentence_translates_as_its_pieces)
{
    char *text = repeat("the cat and ", 400, "the dog.");
    struct mt_translation *t = create(text);
    ck_assert_uint_ge(mt_translation_n_sentences(t), 3);
    run(t);
    char *found = render(t, 0);
    ck_assert_uint_gt(strlen(found), 0);
    size_t n_tokens = 0;
    for (size_t i = 0; i < mt_translation_n_sentences(t); i++)
        n_tokens += mt_sentence_hypothesis(mt_translation_part(t, i).sentence, 0).n_ids;
    ck_assert_uint_eq(mt_translation_n_target_tokens(t), n_tokens);
    free(found);
    mt_translation_destroy(t);
    free(text);
}
END_TEST

/* --- how long a translation may be --- */

START_TEST(the_source_limits_the_length_of_the_target)
{
    const size_t by_model = mt_model_hparams(model)->max_length - 1;
    const int32_t prefix[40] = {0};
    const struct {
        size_t n_source;
        struct mt_sentence_options options;
        size_t expected;
    } cases[] = {
        {1, {.max_length_factor = 3.0f}, MT_LENGTH_FLOOR},
        {10, {.max_length_factor = 3.0f}, 30},
        {11, {.max_length_factor = 3.0f}, 33},
        {21, {.max_length_factor = 2.5f}, 53},
        {200, {.max_length_factor = 3.0f}, by_model},
        {11, {0}, by_model},
        {20, {.max_length_factor = 3.0f, .max_decoding_length = 50}, 50},
        {20, {.max_length_factor = 2.0f, .max_decoding_length = 50}, 40},
        {1, {.max_length_factor = 3.0f, .max_decoding_length = 7}, 7},
        /* There is room for a token behind what is given. */
        {1, {.max_length_factor = 3.0f, .target_prefix = prefix, .n_target_prefix = 40}, 41},
        {1, {.max_length_factor = 3.0f, .forced_target = prefix, .n_forced_target = 40}, 40},
    };
    static const int32_t source[200];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mt_sentence *s;
        struct mt_error err;
        enum mt_status status =
            mt_sentence_create(model, source, cases[i].n_source, &cases[i].options, &s, &err);
        ck_assert_msg(!status, "case %zu: %s", i, err.message);
        ck_assert_msg(mt_sentence_max_target(s) == cases[i].expected, "case %zu: found %zu", i,
                      mt_sentence_max_target(s));
        mt_sentence_destroy(s);
    }
}
END_TEST

/* --- offsets, counts, scores --- */

START_TEST(token_offsets_are_relative_to_the_sentence)
{
    struct mt_translation *t = create("Good morning. Where is Tom?");
    ck_assert_uint_eq(mt_translation_n_sentences(t), 2);
    size_t length, n_tokens = 0;
    const char *text = mt_translation_text(t, &length);
    for (size_t i = 0; i < 2; i++) {
        struct mt_translation_part part = mt_translation_part(t, i);
        const struct mt_token *last = &part.source_tokens->tokens[part.source_tokens->n - 1];
        ck_assert(last->special);
        ck_assert_uint_le(last[-1].end, part.end - part.begin);
        ck_assert_uint_eq(part.source_tokens->n, mt_sentence_n_source(part.sentence));
        n_tokens += part.source_tokens->n;
    }
    struct mt_translation_part part = mt_translation_part(t, 1);
    const struct mt_token *where = &part.source_tokens->tokens[0];
    ck_assert_int_eq(memcmp(text + part.begin + where->begin, "Where", 5), 0);
    ck_assert_uint_eq(mt_translation_n_source_tokens(t), n_tokens);
    mt_translation_destroy(t);
}
END_TEST

/* The mean log-probability of all tokens, whichever way the sentences' own scores are made. */
START_TEST(scores_are_mean_log_probabilities)
{
    static const struct mt_sentence_options cases[] = {
        {.beam_size = 1, .return_logprobs = true},
        {.beam_size = 4, .num_hypotheses = 4, .return_logprobs = true},
        {.beam_size = 3, .has_length_penalty = true, .length_penalty = 0, .return_logprobs = true},
        {.beam_size = 2,
         .has_length_penalty = true,
         .length_penalty = 2.5f,
         .return_logprobs = true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mt_translation_options options = greedy();
        options.decoding = cases[i];
        struct mt_translation *t = create_with("I like to read books. Do you?", &options);
        run(t);
        size_t n_ranks = mt_translation_n_ranks(t);
        ck_assert_uint_eq(n_ranks, cases[i].num_hypotheses ? cases[i].num_hypotheses : 1);
        for (size_t rank = 0; rank < n_ranks; rank++) {
            double sum = 0;
            size_t n = 0;
            for (size_t k = 0; k < 2; k++) {
                struct mt_hypothesis h =
                    mt_sentence_hypothesis(mt_translation_part(t, k).sentence, rank);
                for (size_t j = 0; j < h.n_ids; j++)
                    sum += (double)h.token_logprobs[j];
                n += h.n_ids;
            }
            /* fp32 sums of a dozen numbers of about 1 */
            ck_assert_double_eq_tol((double)mt_translation_score(t, rank), sum / (double)n, 1e-5);
        }
        mt_translation_destroy(t);
    }
}
END_TEST

START_TEST(ranks_give_different_texts)
{
    struct mt_translation_options options = greedy();
    options.decoding.beam_size = options.decoding.num_hypotheses = 4;
    struct mt_translation *t = create_with("He is very tall. He knows.", &options);
    run(t);
    char *texts[5];
    size_t n_different = 0;
    for (size_t rank = 0; rank < 5; rank++) {
        texts[rank] = render(t, rank);
        n_different += strcmp(texts[rank], texts[0]) != 0;
    }
    ck_assert_uint_ge(n_different, 1);
    ck_assert_str_eq(texts[4], texts[3]); /* beyond the last one, the last one */
    for (size_t rank = 0; rank < 5; rank++)
        free(texts[rank]);
    mt_translation_destroy(t);
}
END_TEST

/* --- pieces --- */

/* Takes all pieces that are certain now; how many there were. */
static size_t take_pieces(const struct mt_translation *t, struct mt_translation_cursor *cursor,
                          struct mt_text *out)
{
    struct mt_error err = {0};
    size_t n = 0;
    for (bool moved = true; moved; n += moved)
        ck_assert_msg(!mt_translation_advance(t, cursor, out, &moved, &err), "%s", err.message);
    return n;
}

/* Decodes with a look at what is certain after every step; how many pieces there were. */
static size_t run_by_pieces(struct mt_translation *t, struct mt_text *out)
{
    struct mt_batch *batch;
    struct mt_translation_cursor cursor = {0};
    size_t n = mt_translation_n_sentences(t), n_finished = 0;
    size_t n_pieces = take_pieces(t, &cursor, out);
    ck_assert_int_eq(
        mt_batch_create(model, &(struct mt_batch_options){.max_rows = 64}, &batch, NULL), MT_OK);
    for (size_t i = 0; i < n; i++)
        ck_assert(mt_batch_admit(batch, mt_translation_part(t, i).sentence));
    while (n_finished < n) {
        mt_batch_step(batch);
        n_pieces += take_pieces(t, &cursor, out);
        while (mt_batch_take_finished(batch))
            n_finished++;
    }
    ck_assert(mt_translation_has_ended(t) && cursor.has_all);
    ck_assert_uint_eq(cursor.n_sentences, n);
    mt_batch_destroy(batch);
    return n_pieces;
}

START_TEST(pieces_put_together_are_the_text)
{
    static const char *const texts[] = {
        " \tHello.  How are you?\r\n\n  I am here.\xC2\xA0 \n",
        "The old man who lives next door told me that his daughter is in Berlin.", " \n", ""};
    static const struct {
        size_t beam_size;
        enum mt_publish publish;
        size_t n_pieces; /* of the first text, at least */
    } cases[] = {{1, MT_PUBLISH_END, 3},    {1, MT_PUBLISH_TOKENS, 8}, {2, MT_PUBLISH_TOKENS, 4},
                 {4, MT_PUBLISH_TOKENS, 3}, {8, MT_PUBLISH_TOKENS, 3}, {4, MT_PUBLISH_END, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            struct mt_translation_options options = greedy();
            options.decoding.max_decoding_length = 40;
            options.decoding.beam_size = cases[i].beam_size;
            options.decoding.publish = cases[i].publish;
            struct mt_translation *t = create_with(texts[k], &options);
            struct mt_text pieces = {0};
            size_t n = run_by_pieces(t, &pieces);
            char *whole = render(t, 0);
            ck_assert_str_eq(pieces.bytes ? pieces.bytes : "", whole);
            ck_assert_uint_ge(n, k == 0 ? cases[i].n_pieces : 1);
            if (cases[i].publish == MT_PUBLISH_END && k == 0)
                ck_assert_uint_eq(n, 3);
            free(whole);
            mt_text_finish(&pieces);
            mt_translation_destroy(t);
        }
}
END_TEST

/* --- given translations --- */

START_TEST(a_given_translation_is_what_comes_out)
{
    struct mt_translation_options options = greedy();
    options.decoding.return_logprobs = true;
    options.forced_target_text = "Das ist gut. Danke.";
    struct mt_translation *t = create_with("That is good. Thank you.", &options);
    ck_assert_uint_eq(mt_translation_n_sentences(t), 1);
    run(t);
    char *text = render(t, 0);
    ck_assert_str_eq(text, "Das ist gut. Danke.");
    struct mt_hypothesis h = mt_sentence_hypothesis(mt_translation_part(t, 0).sentence, 0);
    ck_assert_float_eq_tol(mt_translation_score(t, 0), h.score, 1e-6f);
    free(text);
    mt_translation_destroy(t);
}
END_TEST

START_TEST(a_given_translation_is_refused_where_the_source_must_be_cut)
{
    struct mt_translation_options options = greedy();
    struct mt_error err = {0};
    options.forced_target_text = "Und.";
    char *text = repeat("and ", 600, "");
    ck_assert_int_eq(try_to_create(text, &options, &err), MT_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "601"));
    free(text);
}
END_TEST

/* --- language codes --- */

/* The default model with one piece of its vocabulary renamed to a language code. */
static struct dir multilingual(void)
{
    static const char *const others[] = {"config.json", "generation_config.json",
                                         "model.safetensors"};
    static const char old_piece[] = "\"\xE2\x96\x81Japan\"", code[] = "\">>fra<<\"";
    struct dir dir = dir_like(en_de());
    char path[2048], *vocab;
    size_t length;
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", en_de(), others[i]);
        ck_assert_int_eq(symlink(path, dir_path(&dir, others[i])), 0);
    }
    snprintf(path, sizeof path, "%s/vocab.json", en_de());
    ck_assert_int_eq(mt_file_read(path, (size_t)1 << 24, &vocab, &length, NULL), MT_OK);
    char *at = strstr(vocab, old_piece);
    ck_assert_ptr_nonnull(at);
    struct mt_text renamed = {0};
    mt_text_append(&renamed, vocab, (size_t)(at - vocab));
    mt_text_append_string(&renamed, code);
    mt_text_append_string(&renamed, at + strlen(old_piece));
    dir_write(&dir, "vocab.json", renamed.bytes, renamed.length);
    mt_text_finish(&renamed);
    free(vocab);
    return dir;
}

static void remove_multilingual(const struct dir *dir)
{
    unlink(dir_path(dir, "config.json"));
    unlink(dir_path(dir, "generation_config.json"));
    unlink(dir_path(dir, "model.safetensors"));
    dir_remove(dir);
}

START_TEST(a_language_code_counts_for_every_sentence)
{
    struct dir dir = multilingual();
    struct mt_model *bilingual = model;
    model = open_model(dir.path);

    struct mt_translation *t = create(">>fra<<\nI run.  You run.\n");
    ck_assert_uint_eq(mt_translation_n_sentences(t), 2);
    expect_source(t, 0, "I run.");
    expect_source(t, 1, "You run.");
    for (size_t i = 0; i < 2; i++) {
        const struct mt_token *tokens = mt_translation_part(t, i).source_tokens->tokens;
        ck_assert_str_eq(tokens[0].piece, ">>fra<<");
        ck_assert(tokens[0].special && !tokens[0].unknown);
        ck_assert_uint_eq(tokens[0].begin, tokens[0].end);
        ck_assert_uint_eq(tokens[1].begin, 0);
        ck_assert_uint_eq(tokens[1].begin_char, 0);
    }
    expect_alone(t,
                 (const char *const[]){"", ">>fra<< I run.", "  ", ">>fra<<You run.", "\n", NULL});
    mt_translation_destroy(t);

    char *text = repeat("and ", 2000, "");
    struct mt_text coded = {0};
    mt_text_append_string(&coded, ">>fra<< ");
    mt_text_append_string(&coded, text);
    t = create(coded.bytes);
    ck_assert_uint_ge(mt_translation_n_sentences(t), 4);
    for (size_t i = 0; i < mt_translation_n_sentences(t); i++)
        ck_assert_str_eq(mt_translation_part(t, i).source_tokens->tokens[0].piece, ">>fra<<");
    mt_translation_destroy(t);
    mt_text_finish(&coded);
    free(text);

    mt_model_close(model);
    model = bilingual;
    remove_multilingual(&dir);
}
END_TEST

static struct mt_translation *create_for(const char *text, const char *code)
{
    struct mt_translation_options options = greedy();
    options.target_code = code;
    return create_with(text, &options);
}

START_TEST(a_code_that_is_given_is_before_every_sentence)
{
    struct dir dir = multilingual();
    struct mt_model *bilingual = model;
    model = open_model(dir.path);

    struct mt_translation *t = create_for(" I run.  You run.\n", ">>fra<<");
    ck_assert_uint_eq(mt_translation_n_sentences(t), 2);
    expect_source(t, 0, "I run.");
    expect_source(t, 1, "You run.");
    for (size_t i = 0; i < 2; i++) {
        const struct mt_token *tokens = mt_translation_part(t, i).source_tokens->tokens;
        ck_assert_str_eq(tokens[0].piece, ">>fra<<");
        ck_assert_uint_eq(tokens[0].end, 0);
        ck_assert_uint_eq(tokens[1].begin, 0);
    }
    expect_alone(t,
                 (const char *const[]){" ", ">>fra<<I run.", "  ", ">>fra<<You run.", "\n", NULL});
    mt_translation_destroy(t);

    /* One that the text brings comes first, and there is one alone. */
    t = create_for(">>fra<< I run.", ">>eng<<");
    const struct mt_token_list *tokens = mt_translation_part(t, 0).source_tokens;
    ck_assert_str_eq(tokens->tokens[0].piece, ">>fra<<");
    ck_assert(!tokens->tokens[1].special);
    mt_translation_destroy(t);

    mt_model_close(model);
    model = bilingual;
    remove_multilingual(&dir);
}
END_TEST

START_TEST(what_only_looks_like_a_language_code_is_text)
{
    static const char *const texts[] = {
        ">>xyz<< I run. You run.", ">> quoted << mail. And more.", ">>", ">><<", ">>>>>>",
        " >>fra<< Hello.",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct mt_translation *t = create(texts[i]);
        ck_assert_uint_ge(mt_translation_n_sentences(t), 1);
        ck_assert_uint_eq(mt_translation_part(t, 0).begin, texts[i][0] == ' ');
        mt_translation_destroy(t);
    }
}
END_TEST

Suite *suite_translation(void)
{
    Suite *suite = suite_create("translation");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, open_all, close_all);
    tcase_add_test(tcase, keeps_every_blank_between_sentences);
    tcase_add_test(tcase, translates_a_real_sentence);
    tcase_add_test(tcase, blank_texts_translate_to_themselves);
    tcase_add_test(tcase, splits_as_the_mode_says);
    tcase_add_test(tcase, works_without_a_splitter_of_the_caller);
    tcase_add_test(tcase, a_script_without_blanks_gets_them_where_the_target_has_them);
    tcase_add_test(tcase, refuses_more_sentences_than_allowed);
    tcase_add_test(tcase, no_sentence_is_made_behind_one_that_is_not_admitted);
    tcase_add_test(tcase, passes_on_what_is_wrong_with_the_options);
    tcase_add_test(tcase, cuts_what_is_too_long_and_drops_nothing);
    tcase_add_loop_test(tcase, a_word_that_fits_no_sentence_stays_as_it_is, 0, 12);
    tcase_add_test(tcase, cuts_between_words_where_there_are_blanks);
    tcase_add_test(tcase, a_sentence_that_just_fits_is_not_cut);
    tcase_add_test(tcase, a_cut_sentence_translates_as_its_pieces);
    tcase_add_test(tcase, the_source_limits_the_length_of_the_target);
    tcase_add_test(tcase, token_offsets_are_relative_to_the_sentence);
    tcase_add_test(tcase, scores_are_mean_log_probabilities);
    tcase_add_test(tcase, ranks_give_different_texts);
    tcase_add_test(tcase, pieces_put_together_are_the_text);
    tcase_add_test(tcase, a_given_translation_is_what_comes_out);
    tcase_add_test(tcase, a_given_translation_is_refused_where_the_source_must_be_cut);
    tcase_add_test(tcase, a_language_code_counts_for_every_sentence);
    tcase_add_test(tcase, a_code_that_is_given_is_before_every_sentence);
    tcase_add_test(tcase, what_only_looks_like_a_language_code_is_text);
    suite_add_tcase(suite, tcase);
    return suite;
}
