/*
 * How long it takes to put units into a translation memory, and to look texts up.
 *
 *   translation_memory DIRECTORY N
 *   translation_memory URL N ATTENTIOND-DATABASE
 *
 * Fills the database in DIRECTORY, or PostgreSQL's at URL, with N units, unless it has some: sentences of 3 to 30 made-up words,
 * which are as frequent as Zipf's law has them. Then looks up 2,000
 * texts that are there, 2,000 that are not, and 500 of which one word was changed.
 */
#include "base/clock.h"
#include "base/text.h"
#include "server/data/database.h"
#include "server/data/memory_words.h"
#include "server/data/translation_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_WORDS 60000
#define BATCH 20000
#define MAX_LOOKUPS 2000

static struct mt_error err;
static uint64_t state = 88172645463325252u;
static struct mt_memories *memories;
static char id[MT_MEMORY_ID_BYTES];
static const struct mt_memory_question question = {.owner = "", .source = "en", .target = "de"};

static void check(enum mt_status status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", err.message);
    exit(1);
}

/* xorshift64 (Marsaglia 2003) */
static uint64_t random_number(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* A word by its rank; frequent ones are short. */
static void append_word(struct mt_text *out, size_t rank)
{
    static const char *const syllables[] = {"ba",  "den", "ki", "lor", "mus", "ne",  "pal", "ro",
                                            "sti", "tu",  "va", "wen", "xo",  "yar", "zem", "gri"};
    do
        mt_text_append_string(out, syllables[rank % 16]);
    while ((rank /= 16) > 0);
}

static size_t random_rank(void)
{
    double u = (double)(random_number() >> 11) / (double)(UINT64_C(1) << 53);
    return (size_t)pow(N_WORDS, u) - 1;
}

/* A sentence by its number: the same one each time. changed: the third word is another. */
static void make_sentence(size_t number, bool changed, struct mt_text *out)
{
    state = (number + 1) * UINT64_C(0x9E3779B97F4A7C15);
    for (int i = 0; i < 4; i++)
        (void)random_number();
    size_t n = 3 + random_number() % 28;
    out->length = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            mt_text_append(out, " ", 1);
        size_t rank = random_rank();
        append_word(out, changed && i == 2 ? rank + 1 : rank);
    }
    mt_text_append(out, ".", 1);
}

static void fill(size_t n)
{
    static struct mt_text texts[BATCH];
    static struct mt_memory_unit units[BATCH];
    int64_t begin = mt_now_ns();
    for (size_t from = 0; from < n; from += BATCH) {
        size_t k = 0;
        for (; k < BATCH && from + k < n; k++) {
            make_sentence(from + k, false, &texts[k]);
            units[k] = (struct mt_memory_unit){.source = texts[k].bytes,
                                               .target = texts[k].bytes,
                                               .target_lang = "de",
                                               .context = "",
                                               .origin = ""};
        }
        check(mt_memories_put(memories, "", id, units, k, &err));
    }
    printf("put %zu units in %.1f s\n", n, (double)(mt_now_ns() - begin) * 1e-9);
}

static size_t n_taken;

static enum mt_status take(void *context, const struct mt_memory_match *match,
                           struct mt_error *error)
{
    n_taken++;
    return MT_OK;
}

static int compare(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* n texts from `from` on, each time `step` further. */
static void look_up(const char *what, size_t n, size_t from, size_t step, bool is_similar)
{
    static int64_t times[MAX_LOOKUPS];
    struct mt_word_reader *reader;
    struct mt_text text = {0};
    check(mt_word_reader_create(&reader, &err));
    n_taken = 0;
    for (size_t i = 0; i < n; i++) {
        make_sentence(from + i * step, is_similar, &text);
        int64_t begin = mt_now_ns();
        check(is_similar ? mt_memories_find_similar(memories, &question, reader, text.bytes,
                                                    MT_LEAST_SIMILARITY, 3, take, NULL, &err)
                         : mt_memories_find(memories, &question, text.bytes, "", take, NULL, &err));
        times[i] = mt_now_ns() - begin;
    }
    qsort(times, n, sizeof *times, compare);
    printf("%-8s %4zu texts, %4zu matches: p50 %.3f ms, p99 %.3f ms, most %.3f ms\n", what, n,
           n_taken, (double)times[n / 2] * 1e-6, (double)times[n * 99 / 100] * 1e-6,
           (double)times[n - 1] * 1e-6);
    mt_text_finish(&text);
    mt_word_reader_destroy(reader);
}

int main(int argc, char **argv)
{
    struct mt_database *database;
    bool has;
    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: translation_memory DIRECTORY N\n"
                        "       translation_memory URL N ATTENTIOND-DATABASE\n");
        return 2;
    }
    size_t n = strtoul(argv[2], NULL, 10);
    const struct mt_database_options options = {.directory = argc == 3 ? argv[1] : NULL,
                                                .url = argc == 4 ? argv[1] : NULL,
                                                .program = argc == 4 ? argv[3] : NULL,
                                                .max_bytes = INT64_C(100) << 30};
    const struct mt_memory_limits limits = {.max_memories = 10, .max_units = n};
    check(mt_database_open(&options, &database, &err));
    check(mt_memories_create(database, &limits, &memories, &err));
    check(mt_memories_find_or_add(memories, "", "bench", "en", id, &err));
    check(mt_memories_have(memories, &question, &has, &err));
    if (!has)
        fill(n);
    look_up("exact", MAX_LOOKUPS, 0, n / MAX_LOOKUPS, false);
    look_up("none", MAX_LOOKUPS, n, 1, false);
    look_up("similar", MAX_LOOKUPS / 4, 7, n / MAX_LOOKUPS, true);
    mt_memories_destroy(memories);
    mt_database_close(database);
    return 0;
}
