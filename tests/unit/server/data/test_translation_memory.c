#include "server/data/translation_memory.h"

#include "base/log.h"
#include "base/text.h"
#include "server/data/database.h"
#include "server/data/memory_words.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct mt_error err;
static char folder[] = "/tmp/attentiond-test-XXXXXX";
static struct mt_database *database;
static struct mt_memories *memories;
static struct mt_word_reader *reader;
static char id[MT_MEMORY_ID_BYTES];

static void setup(void)
{
    const struct mt_memory_limits limits = {.max_memories = 3, .max_units = 5};
    ck_assert_ptr_nonnull(mkdtemp(folder));
    const struct mt_database_options options = {.directory = folder, .max_bytes = 1 << 22};
    mt_log_set_level(MT_LOG_ERROR);
    ck_assert_int_eq(mt_database_open(&options, &database, &err), MT_OK);
    ck_assert_int_eq(mt_memories_create(database, &limits, &memories, &err), MT_OK);
    ck_assert_int_eq(mt_memories_add(memories, "me", "Manuals", "en", NULL, 0, id, &err), MT_OK);
    ck_assert_int_eq(mt_word_reader_create(&reader, &err), MT_OK);
}

static void teardown(void)
{
    char command[sizeof folder + 16];
    mt_word_reader_destroy(reader);
    mt_memories_destroy(memories);
    mt_database_close(database);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
    memcpy(strchr(folder, '-') + 6, "XXXXXX", 6);
}

static void put(const char *source, const char *target, const char *context, int64_t changed_ms)
{
    const struct mt_memory_unit unit = {.source = source,
                                        .target = target,
                                        .target_lang = "de",
                                        .context = context,
                                        .origin = "Anna",
                                        .changed_ms = changed_ms};
    ck_assert_int_eq(mt_memories_put(memories, "me", id, &unit, 1, &err), MT_OK);
}

struct found {
    char all[400];
};

static enum mt_status take(void *context, const struct mt_memory_match *match,
                           struct mt_error *error)
{
    struct found *found = context;
    size_t length = strlen(found->all);
    snprintf(found->all + length, sizeof found->all - length, "%d %s=%s (%s);", match->percent,
             match->source, match->target, match->origin);
    return MT_OK;
}

static const char *find(const struct mt_memory_question *question, const char *text,
                        const char *context)
{
    static struct found found;
    found = (struct found){.all = ""};
    ck_assert_int_eq(mt_memories_find(memories, question, text, context, take, &found, &err),
                     MT_OK);
    return found.all;
}

static const char *find_similar(const struct mt_memory_question *question, const char *text,
                                int least, size_t n)
{
    static struct found found;
    found = (struct found){.all = ""};
    ck_assert_int_eq(
        mt_memories_find_similar(memories, question, reader, text, least, n, take, &found, &err),
        MT_OK);
    return found.all;
}

static const struct mt_memory_question mine = {.owner = "me", .source = "en", .target = "de"};

START_TEST(the_newest_and_the_one_in_its_place_are_found)
{
    put("Press OK.", "Drücken Sie OK.", "", 1000);
    put("Press OK.", "OK drücken.", "", 2000);
    put("Press OK.", "Drück OK.", "Hello!", 500);
    ck_assert_str_eq(find(&mine, "Press OK.", ""), "100 Press OK.=OK drücken. (Anna);");
    ck_assert_str_eq(find(&mine, "Press OK.", "Hello!"), "101 Press OK.=Drück OK. (Anna);");
    ck_assert_str_eq(find(&mine, "Press OK.", "Bye!"), "100 Press OK.=OK drücken. (Anna);");
    ck_assert_str_eq(find(&mine, "Press OK", ""), "");
    ck_assert_str_eq(find(&mine, "Press\n\t OK.", ""), "100 Press\n\t OK.=OK drücken. (Anna);");
    ck_assert_str_eq(find(&mine, "PressOK.", ""), "");
}
END_TEST

START_TEST(nobody_else_finds_it)
{
    struct mt_memory_question question = mine;
    bool has;
    put("Press OK.", "OK drücken.", "", 1000);
    question.owner = "you";
    ck_assert_str_eq(find(&question, "Press OK.", ""), "");
    ck_assert_str_eq(find_similar(&question, "Press OK!", 75, 3), "");
    question.id = id;
    ck_assert_int_eq(mt_memories_have(memories, &question, &has, &err), MT_NOT_FOUND);
    ck_assert_int_eq(mt_memories_remove(memories, "you", id, &err), MT_NOT_FOUND);
    const struct mt_memory_unit unit = {
        .source = "a", .target = "b", .target_lang = "de", .context = "", .origin = ""};
    ck_assert_int_eq(mt_memories_put(memories, "you", id, &unit, 1, &err), MT_NOT_FOUND);
    question = mine;
    question.target = "fr";
    ck_assert_str_eq(find(&question, "Press OK.", ""), "");
    ck_assert_int_eq(mt_memories_have(memories, &question, &has, &err), MT_OK);
    ck_assert(!has);
    question = mine;
    question.source = "fr";
    ck_assert_str_eq(find(&question, "Press OK.", ""), "");
    ck_assert_int_eq(mt_memories_have(memories, &mine, &has, &err), MT_OK);
    ck_assert(has);
}
END_TEST

START_TEST(similar_ones_are_offered_the_best_first)
{
    put("Press the red button to stop.", "Drücken Sie zum Anhalten den roten Knopf.", "", 1);
    put("Press the green button to stop.", "Drücken Sie zum Anhalten den grünen Knopf.", "", 2);
    put("Do not lean out.", "Nicht hinauslehnen.", "", 3);
    ck_assert_str_eq(find_similar(&mine, "Press the red button to start.", 75, 1),
                     "83 Press the red button to stop.=Drücken Sie zum Anhalten den roten Knopf. "
                     "(Anna);");
    ck_assert_str_eq(find_similar(&mine, "press the GREEN button to stop", 90, 3),
                     "99 Press the green button to stop.=Drücken Sie zum Anhalten den grünen "
                     "Knopf. (Anna);");
    ck_assert_str_eq(find_similar(&mine, "Press the green button to stop.", 90, 3), "");
    ck_assert_str_eq(find_similar(&mine, "!", 75, 3), "");
}
END_TEST

static enum mt_status take_row(void *context, const struct mt_memory_row *row,
                               struct mt_error *error)
{
    struct mt_text *out = context;
    mt_text_appendf(out, "%s %s-%s %zu;", row->name, row->source, row->target ? row->target : "",
                    row->n_units);
    return MT_OK;
}

static enum mt_status take_unit(void *context, const struct mt_memory_unit *unit,
                                struct mt_error *error)
{
    struct mt_text *out = context;
    mt_text_appendf(out, "%s=%s [%s] %s %s %lld;", unit->source, unit->target, unit->context,
                    unit->target_lang, unit->origin, (long long)unit->changed_ms);
    return MT_OK;
}

static void check_all(const char *rows, const char *units)
{
    struct mt_text text = {0};
    mt_text_append(&text, "", 0);
    ck_assert_int_eq(mt_memories_visit(memories, "me", NULL, take_row, &text, &err), MT_OK);
    ck_assert_str_eq(text.bytes, rows);
    text.length = 0;
    mt_text_append(&text, "", 0);
    if (units)
        ck_assert_int_eq(mt_memories_visit_units(memories, "me", id, take_unit, &text, &err),
                         MT_OK);
    if (units)
        ck_assert_str_eq(text.bytes, units);
    mt_text_finish(&text);
}

START_TEST(units_are_counted_and_listed)
{
    check_all("Manuals en- 0;", "");
    put("Press OK.", "OK drücken.", "", 1000);
    put("Bye", "Tschüs", "Press OK.", 3000);
    put("Press OK.", "OK drücken.", "", 2000);
    check_all("Manuals en-de 2;",
              "Press OK.=OK drücken. [] de Anna 2000;Bye=Tschüs [Press OK.] de Anna 3000;");
    ck_assert_int_eq(mt_memories_remove(memories, "me", id, &err), MT_OK);
    check_all("", NULL);
    ck_assert_str_eq(find(&mine, "Bye", ""), "");
    ck_assert_int_eq(mt_memories_remove(memories, "me", id, &err), MT_NOT_FOUND);
}
END_TEST

START_TEST(limits_hold_and_nothing_is_half_done)
{
    struct mt_memory_unit units[6];
    char texts[6][2] = {"a", "b", "c", "d", "e", "f"}, other[MT_MEMORY_ID_BYTES];
    for (size_t i = 0; i < 6; i++)
        units[i] = (struct mt_memory_unit){
            .source = texts[i], .target = "x", .target_lang = "de", .context = "", .origin = ""};
    ck_assert_int_eq(mt_memories_put(memories, "me", id, units, 6, &err), MT_LIMIT);
    check_all("Manuals en- 0;", "");
    ck_assert_int_eq(mt_memories_add(memories, "me", "Big", "en", units, 6, other, &err), MT_LIMIT);
    check_all("Manuals en- 0;", "");
    ck_assert_int_eq(mt_memories_put(memories, "me", id, units, 5, &err), MT_OK);
    ck_assert_int_eq(mt_memories_put(memories, "me", id, units, 5, &err), MT_OK);
    ck_assert_int_eq(mt_memories_put(memories, "me", id, units + 5, 1, &err), MT_LIMIT);
    check_all("Manuals en-de 5;", NULL);
    ck_assert_int_eq(mt_memories_find_or_add(memories, "me", "Manuals", "en", other, &err), MT_OK);
    ck_assert_str_eq(other, id);
    ck_assert_int_eq(mt_memories_find_or_add(memories, "me", "Manuals", "fr", other, &err), MT_OK);
    ck_assert_str_ne(other, id);
    ck_assert_int_eq(mt_memories_add(memories, "me", "Manuals", "en", NULL, 0, other, &err), MT_OK);
    ck_assert_int_eq(mt_memories_add(memories, "me", "Manuals", "en", NULL, 0, other, &err),
                     MT_LIMIT);
}
END_TEST

/* More than one statement writes, with texts that come again: at once, later, and from another time. */
START_TEST(many_at_once_are_as_one_by_one)
{
    enum { N = 300, DIFFERENT = 170 };
    static struct mt_memory_unit units[N];
    static char texts[N][80];
    const struct mt_memory_limits limits = {.max_memories = 3, .max_units = DIFFERENT};
    struct mt_memories *large;
    char row[40];
    ck_assert_int_eq(mt_memories_create(database, &limits, &large, &err), MT_OK);
    for (size_t i = 0; i < N; i++) {
        size_t k = i % 3 == 2 ? i - 1 : i; /* twice, one behind the other */
        snprintf(texts[i], sizeof texts[i], "The lamp of house %c%c is a colourful one.",
                 (char)('a' + k % DIFFERENT / 13), (char)('a' + k % 13));
        units[i] = (struct mt_memory_unit){.source = texts[i],
                                           .target = texts[i] + 4,
                                           .target_lang = "de",
                                           .context = "",
                                           .origin = i < DIFFERENT ? "first" : "later"};
    }
    ck_assert_int_eq(mt_memories_put(large, "me", id, units, N, &err), MT_OK);
    for (size_t i = 0; i < N; i++) {
        char expected[200], changed[80];
        const char *found = find(&mine, texts[i], "");
        bool comes_again = false;
        for (size_t k = DIFFERENT; k < N; k++)
            comes_again = comes_again || strcmp(texts[k], texts[i]) == 0;
        snprintf(expected, sizeof expected, "100 %.79s=%.79s (%s);", texts[i], texts[i] + 4,
                 comes_again ? "later" : "first");
        ck_assert_str_eq(found, expected);
        snprintf(changed, sizeof changed, "%.*s", (int)strcspn(texts[i], "."), texts[i]);
        strcat(changed, " too.");
        ck_assert_ptr_nonnull(strstr(find_similar(&mine, changed, 85, 3), texts[i]));
    }
    size_t n_different = 0;
    for (size_t i = 0; i < N; i++) {
        bool is_first = true;
        for (size_t k = 0; k < i; k++)
            is_first = is_first && strcmp(texts[k], texts[i]) != 0;
        n_different += is_first;
    }
    snprintf(row, sizeof row, "Manuals en-de %zu;", n_different);
    check_all(row, NULL);
    mt_memories_destroy(large);
}
END_TEST

Suite *suite_translation_memory(void)
{
    Suite *suite = suite_create("translation_memory");
    TCase *tcase = tcase_create("translation_memory");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, the_newest_and_the_one_in_its_place_are_found);
    tcase_add_test(tcase, nobody_else_finds_it);
    tcase_add_test(tcase, similar_ones_are_offered_the_best_first);
    tcase_add_test(tcase, units_are_counted_and_listed);
    tcase_add_test(tcase, limits_hold_and_nothing_is_half_done);
    tcase_add_test(tcase, many_at_once_are_as_one_by_one);
    suite_add_tcase(suite, tcase);
    return suite;
}
