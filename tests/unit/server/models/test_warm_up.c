/*
 * That loading a model makes what texts in its languages need, and who waits for it. The program is
 * linked with --wrap=calloc: a language's number words begin with one, so counting them tells
 * whether any were made, and one that is held up holds up the language.
 */
#include "config/settings.h"
#include "server/models/catalog.h"
#include "server/models/model_host.h"
#include "server/models/warm_up.h"
#include "server/text/numbers/number_words.h"
#include "server/text/splitter.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_THREADS 4

static struct mt_number_words *words;
static struct mt_splitter *splitter;
static struct mt_error error;

static atomic_size_t n_callocs;
static _Thread_local bool waits_at_gate, fails_behind_it;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_at_gate;

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);

void *__wrap_calloc(size_t count, size_t bytes)
{
    n_callocs++;
    if (waits_at_gate) {
        is_at_gate = true;
        pthread_mutex_lock(&gate);
        pthread_mutex_unlock(&gate);
    }
    if (fails_behind_it)
        return NULL;
    return __real_calloc(count, bytes);
}

static void must(enum mt_status status)
{
    ck_assert_msg(!status, "%s", error.message);
}

static void start(void)
{
    must(mt_number_words_create(&words, &error));
    must(mt_splitter_create(&splitter, &error));
}

static void stop(void)
{
    mt_number_words_destroy(words);
    mt_splitter_destroy(splitter);
}

static const struct mt_number_language *get(const char *language)
{
    const struct mt_number_language *found = NULL;
    struct mt_error err;
    ck_assert(mt_number_words_get(words, language, &found, &err) == MT_OK);
    return found;
}

/* Whether they were there already; then they are a language's, and not none. */
static bool is_warm(const char *language, const char *two)
{
    struct mt_number_word found[MT_MAX_NUMBER_WORDS];
    size_t n_before = n_callocs;
    const struct mt_number_language *of = get(language);
    if (n_callocs != n_before)
        return false;
    ck_assert_uint_ge(mt_number_words_at(of, two, strlen(two), 0, found), 1);
    ck_assert_uint_eq(found[0].value, 2);
    return true;
}

START_TEST(a_loaded_model_has_its_number_words)
{
    struct mt_settings settings;
    struct mt_model_host *host;
    struct mt_catalog *catalog;
    const struct mt_loaded_model *loaded;
    char models[600];
    const struct mt_model_host_options options = {
        .engine = {.n_workers = 1, .threads_per_worker = 1},
        .splitter = splitter,
        .number_words = words,
    };
    snprintf(models, sizeof models, "%s/tests/models", getenv("MT_SOURCE_DIR"));
    must(mt_settings_init(&settings, &error));
    must(mt_settings_set(&settings, "models_directory", models, "test", &error));
    must(mt_model_host_create(&options, &host, &error));
    must(mt_catalog_create(&(struct mt_catalog_options){.settings = &settings, .host = host},
                           &catalog, &error));
    must(mt_served_model_load(mt_catalog_find(catalog, "en-de"), &loaded, &error));
    ck_assert(is_warm("en", "two"));
    ck_assert(is_warm("de", "zwei"));
    ck_assert(!is_warm("fr", "deux"));
    mt_catalog_destroy(catalog);
    mt_model_host_let_go(host);
    mt_settings_finish(&settings);
}
END_TEST

static void warm_up(size_t n_targets)
{
    static const struct mt_model_language en = {.code = "en"};
    static const struct mt_model_language targets[] = {
        {.code = "de"}, {.code = "nl"}, {.code = "fr"}, {.code = "es"},
        {.code = "it"}, {.code = "pt"}, {.code = "sv"}, {.code = "da"},
    };
    const struct mt_served_model_info info = {
        .sources = &en, .n_sources = 1, .targets = targets, .n_targets = n_targets};
    struct mt_text_warm_up texts = {.info = &info, .splitter = splitter, .number_words = words};
    mt_text_warm_up_begin(&texts);
    mt_text_warm_up_end(&texts);
}

START_TEST(so_does_one_of_some_languages_but_not_one_of_many)
{
    warm_up(MT_MAX_WARM_LANGUAGES);
    ck_assert(!is_warm("en", "two"));
    ck_assert(!is_warm("da", "to"));
    warm_up(MT_MAX_WARM_LANGUAGES - 1);
    ck_assert(is_warm("sv", "två"));
}
END_TEST

static void *make_behind_gate(void *argument)
{
    (void)argument;
    waits_at_gate = true;
    get("ru");
    return NULL;
}

static void *make(void *argument)
{
    *(const struct mt_number_language **)argument = get("ru");
    return NULL;
}

START_TEST(a_language_that_is_being_made_holds_up_nobody_who_needs_another)
{
    pthread_t first, others[N_THREADS];
    const struct mt_number_language *found[N_THREADS];
    pthread_mutex_lock(&gate);
    ck_assert_int_eq(pthread_create(&first, NULL, make_behind_gate, NULL), 0);
    while (!is_at_gate)
        sched_yield();
    get("de");
    for (size_t i = 0; i < N_THREADS; i++)
        ck_assert_int_eq(pthread_create(&others[i], NULL, make, &found[i]), 0);
    pthread_mutex_unlock(&gate);
    pthread_join(first, NULL);
    for (size_t i = 0; i < N_THREADS; i++)
        pthread_join(others[i], NULL);
    for (size_t i = 0; i < N_THREADS; i++)
        ck_assert_ptr_eq(found[i], get("ru"));
}
END_TEST

static void *fail_behind_gate(void *argument)
{
    const struct mt_number_language *found;
    waits_at_gate = fails_behind_it = true;
    *(enum mt_status *)argument = mt_number_words_get(words, "ru", &found, NULL);
    return NULL;
}

static void *make_french_behind_gate(void *argument)
{
    waits_at_gate = true;
    *(const struct mt_number_language **)argument = get("fr");
    return NULL;
}

static void *make_french(void *argument)
{
    *(const struct mt_number_language **)argument = get("fr");
    return NULL;
}

static void start_at_gate(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    is_at_gate = false;
    pthread_mutex_lock(&gate);
    ck_assert_int_eq(pthread_create(thread, NULL, run, argument), 0);
    while (!is_at_gate)
        sched_yield();
}

START_TEST(one_that_could_not_be_made_leaves_its_place_clean)
{
    pthread_t first, second, third;
    enum mt_status status = MT_OK;
    const struct mt_number_language *made = NULL, *waited_for = NULL;
    start_at_gate(&first, fail_behind_gate, &status);
    get("de"); /* moves to the place of the one that fails */
    pthread_mutex_unlock(&gate);
    pthread_join(first, NULL);
    ck_assert_int_eq(status, MT_MEMORY);
    start_at_gate(&second, make_french_behind_gate, &made);
    ck_assert_int_eq(pthread_create(&third, NULL, make_french, &waited_for), 0);
    usleep(20000); /* in which it would have found German in the place */
    pthread_mutex_unlock(&gate);
    pthread_join(second, NULL);
    pthread_join(third, NULL);
    ck_assert_ptr_eq(waited_for, made);
    ck_assert(is_warm("fr", "deux") && is_warm("de", "zwei"));
    get("ru");
}
END_TEST

Suite *suite_warm_up(void)
{
    Suite *suite = suite_create("warm_up");
    TCase *tcase = tcase_create("texts");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_test(tcase, a_loaded_model_has_its_number_words);
    tcase_add_test(tcase, so_does_one_of_some_languages_but_not_one_of_many);
    tcase_add_test(tcase, a_language_that_is_being_made_holds_up_nobody_who_needs_another);
    tcase_add_test(tcase, one_that_could_not_be_made_leaves_its_place_clean);
    suite_add_tcase(suite, tcase);
    return suite;
}
