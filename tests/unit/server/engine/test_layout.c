#include "server/engine/layout.h"

#include <check.h>
#include <math.h>

/* A lane that always has n_rows sentences of 25 tokens, and a machine of two threads on which a step
 * takes this long. The two workers of MT_APART have half of the rows each. */
struct machine {
    double together_ns, together_row_ns; /* a step of all */
    double apart_ns, apart_row_ns;       /* a step of half of them */
    double token_ns[2];                  /* of the encoder, for the lane; by way */
    double noise;                        /* steps take up to so many times longer or shorter */
    bool in_bunches;                     /* all sentences begin and end together */
};

struct lane {
    struct mt_layout layout;
    struct mt_layout_work work;
    size_t n_rows;
    double ended; /* parts of sentences */
    unsigned dice;
    int64_t way_ns[2];
};

#define TOKENS 25

static double throw(struct lane * lane)
{
    lane->dice = lane->dice * 1103515245u + 12345u;
    return (double)(lane->dice >> 8 & 0xffff) / 65536.0;
}

static size_t n_taking(const struct lane *lane)
{
    size_t on_trial = mt_layout_on_trial(&lane->layout);
    if (on_trial)
        return on_trial;
    return lane->n_rows >= mt_layout_rows(&lane->layout) ? lane->layout.n_workers[MT_APART]
                                                         : lane->layout.n_workers[MT_TOGETHER];
}

static void step(struct lane *lane, const struct machine *m)
{
    bool is_apart = n_taking(lane) > lane->layout.n_workers[MT_TOGETHER];
    size_t n = lane->n_rows;
    double ns = is_apart ? m->apart_ns + m->apart_row_ns * (double)n / 2
                         : m->together_ns + m->together_row_ns * (double)n;
    ns *= exp((2 * throw(lane) - 1) * m->noise);
    lane->ended += m->in_bunches ? 0 : (double)n / TOKENS;
    if (m->in_bunches && (lane->work.n_rows / n + 1) % TOKENS == 0)
        lane->ended += (double)n;
    size_t n_ended = (size_t)lane->ended;
    lane->ended -= (double)n_ended;
    double encode_ns = (double)n_ended * TOKENS * m->token_ns[is_apart];
    lane->work.n_sentences += n_ended;
    lane->work.n_tokens += n_ended * TOKENS;
    lane->work.encode_ns += (int64_t)(encode_ns * (is_apart ? 2 : 1)); /* two encode at once */
    lane->work.busy_ns += (int64_t)(ns + encode_ns);
    lane->work.n_rows += n;
    lane->way_ns[is_apart] += (int64_t)(ns + encode_ns);
    mt_layout_note(&lane->layout, &lane->work, (double)n, n, n_taking(lane));
}

static void work_for(struct lane *lane, const struct machine *m, size_t n_rows, double seconds)
{
    int64_t end_ns = lane->work.busy_ns + (int64_t)(seconds * 1e9);
    lane->n_rows = n_rows;
    while (lane->work.busy_ns < end_ns)
        step(lane, m);
}

static struct lane lane_with(size_t presumed_rows)
{
    struct lane lane = {.dice = 1};
    mt_layout_init(&lane.layout, 1, 2, presumed_rows);
    return lane;
}

/* As base models are: reading the weights takes long, and a team reads them once. Apart is faster
 * from 16 rows on. */
static const struct machine large = {.together_ns = 1000e3,
                                     .together_row_ns = 130e3,
                                     .apart_ns = 2000e3,
                                     .apart_row_ns = 135e3,
                                     .token_ns = {50e3, 50e3},
                                     .noise = 0.5};

START_TEST(it_learns_from_either_presumption)
{
    static const size_t presumed[] = {2, 8, 64, 1000};
    static const struct {
        size_t n_rows;
        bool is_apart;
    } cases[] = {{4, false}, {8, false}, {24, true}, {64, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lane lane = lane_with(presumed[_i]);
        work_for(&lane, &large, cases[i].n_rows, 20);
        ck_assert_msg((mt_layout_rows(&lane.layout) <= cases[i].n_rows) == cases[i].is_apart,
                      "%zu rows: apart from %zu on", cases[i].n_rows, mt_layout_rows(&lane.layout));
    }
}
END_TEST

START_TEST(what_was_learned_at_one_size_holds_at_others)
{
    struct lane lane = lane_with(2);
    work_for(&lane, &large, 6, 20);
    ck_assert_uint_gt(mt_layout_rows(&lane.layout), 6);
    work_for(&lane, &large, 32, 20);
    ck_assert_uint_gt(mt_layout_rows(&lane.layout), 6);
    ck_assert_uint_le(mt_layout_rows(&lane.layout), 32);
    int64_t before_ns = lane.way_ns[MT_APART];
    work_for(&lane, &large, 3, 20); /* fewer than 6, which are clearly better together */
    ck_assert(lane.way_ns[MT_APART] == before_ns);
}
END_TEST

/* A step of 64 rows takes 6 to 9 ms here. */
START_TEST(what_is_hardly_doubtful_is_tried_late)
{
    struct lane sure = lane_with(4), unsure = lane_with(32);
    work_for(&sure, &large, 64, 1.2);
    work_for(&unsure, &large, 64, 1.2);
    ck_assert_int_eq(sure.way_ns[MT_TOGETHER], 0);
    ck_assert_int_gt(unsure.way_ns[MT_TOGETHER], 0);
    work_for(&sure, &large, 64, 20);
    ck_assert_int_gt(sure.way_ns[MT_TOGETHER], 0);
}
END_TEST

/* What the slower way takes of the time. */
START_TEST(trials_become_rare)
{
    struct lane lane = lane_with(2);
    work_for(&lane, &large, 6, 60);
    int64_t first_ns = lane.way_ns[MT_APART];
    work_for(&lane, &large, 6, 600);
    double share = (double)(lane.way_ns[MT_APART] - first_ns) / 600e9;
    ck_assert_msg(share < 1.0 / 64, "%g", share);
    ck_assert_msg((double)first_ns < 60e9 / 10, "%g s", 1e-9 * (double)first_ns);
}
END_TEST

/* Beside another program a team is slower; when that has ended it is faster again. */
START_TEST(it_follows_a_change)
{
    struct machine crowded = large;
    crowded.together_row_ns = 600e3;
    struct lane lane = lane_with(8);
    work_for(&lane, &large, 8, 60);
    ck_assert_uint_gt(mt_layout_rows(&lane.layout), 8);
    work_for(&lane, &crowded, 8, 300);
    ck_assert_uint_le(mt_layout_rows(&lane.layout), 8);
    work_for(&lane, &large, 8, 900);
    ck_assert_uint_gt(mt_layout_rows(&lane.layout), 8);
}
END_TEST

/* Sentences of one document begin together, and are encoded in one pass: a window that has one more
 * of them than the other is not slower for that. */
START_TEST(bunches_are_no_gain)
{
    struct machine even = {.together_ns = 400e3,
                           .together_row_ns = 100e3,
                           .apart_ns = 400e3,
                           .apart_row_ns = 200e3,
                           .token_ns = {100e3, 100e3},
                           .in_bunches = true};
    struct lane lane = lane_with(16);
    work_for(&lane, &even, 24, 60);
    size_t n_tried = 0;
    for (size_t i = 0; i < MT_LAYOUT_SIZES; i++) {
        ck_assert_msg(fabs(lane.layout.results[i].gain) < 0.02, "%g", lane.layout.results[i].gain);
        n_tried += lane.layout.results[i].n_trials;
    }
    ck_assert_uint_gt(n_tried, 2);
}
END_TEST

START_TEST(a_trial_ends_when_other_work_comes)
{
    struct lane lane = lane_with(2);
    lane.n_rows = 6;
    while (!mt_layout_on_trial(&lane.layout))
        step(&lane, &large);
    mt_layout_interrupt(&lane.layout, lane.work.busy_ns);
    ck_assert_uint_eq(mt_layout_on_trial(&lane.layout), 0);
    work_for(&lane, &large, 6, 0.01);
    while (!mt_layout_on_trial(&lane.layout))
        step(&lane, &large);
    work_for(&lane, &large, 40, 0.005); /* another size */
    ck_assert_uint_eq(mt_layout_on_trial(&lane.layout), 0);
    for (size_t i = 0; i < MT_LAYOUT_SIZES; i++)
        ck_assert_uint_eq(lane.layout.results[i].n_trials, 0);
}
END_TEST

START_TEST(nothing_to_choose)
{
    struct lane lane = lane_with(2);
    mt_layout_init(&lane.layout, 2, 2, 4);
    lane.n_rows = 40;
    for (size_t i = 0; i < 10000; i++) {
        step(&lane, &large);
        ck_assert_uint_eq(mt_layout_on_trial(&lane.layout), 0);
    }
    lane = lane_with(2);
    work_for(&lane, &large, 1, 20); /* one row cannot be shared */
    ck_assert(lane.way_ns[MT_APART] == 0);
}
END_TEST

Suite *suite_layout(void)
{
    Suite *suite = suite_create("layout");
    TCase *tcase = tcase_create("layout");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, it_learns_from_either_presumption, 0, 4);
    tcase_add_test(tcase, what_was_learned_at_one_size_holds_at_others);
    tcase_add_test(tcase, what_is_hardly_doubtful_is_tried_late);
    tcase_add_test(tcase, trials_become_rare);
    tcase_add_test(tcase, it_follows_a_change);
    tcase_add_test(tcase, bunches_are_no_gain);
    tcase_add_test(tcase, a_trial_ends_when_other_work_comes);
    tcase_add_test(tcase, nothing_to_choose);
    suite_add_tcase(suite, tcase);
    return suite;
}
