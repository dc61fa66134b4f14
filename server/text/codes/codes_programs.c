/* Finds what belongs to programs: their lines and comments, commands that are typed, logs, messages of
 * commits. */
#include "server/text/codes/codes_state.h"

#include <string.h>

/* ---- lines of programs ---- */

static bool begins_with(const char *text, size_t end, const char *word)
{
    size_t n = strlen(word);
    return end > n && memcmp(text, word, n) == 0;
}

/* Whether there is an operator between blanks: x + 1. */
static bool has_operator(const char *text, size_t end)
{
    for (size_t i = 0; i + 2 < end; i++)
        if (text[i] == ' ' && text[i + 2] == ' ' && mt_codes_is_one_of(text[i + 1], "+-*/%<>?"))
            return true;
    return false;
}

/* Whether the text begins like a statement of a program or of SQL: if (x > 0) return y; SELECT *
 * FROM users; "return" counts only before a single word or an operator. */
static bool is_statement(const char *text, size_t end)
{
    static const char *const words[] = {"if (", "while (", "for (", "else "};
    static const char *const queries[][2] = {
        {"SELECT ", " FROM "}, {"INSERT INTO ", ")"}, {"UPDATE ", " SET "}, {"DELETE FROM ", ""}};
    static const char last[] = "return ";
    const char *blank = memrchr(text, ' ', end);
    bool is_inner = false;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        is_inner = is_inner || begins_with(text, end, words[k]);
    for (size_t k = 0; k < sizeof queries / sizeof *queries; k++)
        if (begins_with(text, end, queries[k][0]) &&
            memmem(text, end, queries[k][1], strlen(queries[k][1])))
            return true;
    size_t n = blank ? (size_t)(blank + 1 - text) : 0, n_last = sizeof last - 1;
    bool returns = n >= n_last && memcmp(text + n - n_last, last, n_last) == 0;
    return (returns && (is_inner || n == n_last)) ||
           (begins_with(text, end, last) && has_operator(text, end)) ||
           (is_inner && end - n == n_last && memcmp(text + n, "return;", n_last) == 0);
}

bool mt_codes_is_program(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    const char *text = finder->text + line->begin;
    size_t length = line->end - line->begin, end = length;
    char last = text[end - 1];
    if (begins_with(text, end, "def ") && memmem(text, end, "):", 2))
        return true;
    if (mt_ascii_is_digit(text[0]) && memmem(text, end, " - - [", 6)) /* of a web server's log */
        return true;
    while (end > 0 && mt_codes_is_one_of(text[end - 1], " {}"))
        end--;
    if (end < 4 || (text[end - 1] != ';' && !(last == '{' && text[end - 1] == ')')))
        return false;
    bool is_call = text[end - 2] == ')' && memcmp(text + end - 4, "(s)", 3) != 0;
    bool is_entity = memrchr(text + (end > 10 ? end - 10 : 0), '&', end > 10 ? 10 : end);
    bool is_step = memcmp(text + end - 3, "++", 2) == 0 || memcmp(text + end - 3, "--", 2) == 0;
    return end < length
               ? !is_entity
               : is_call || is_step || memmem(text, end, " = ", 3) || is_statement(text, end);
}

size_t mt_codes_comment_begin(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    const char *mark = memmem(finder->text + line->begin, line->end - line->begin, " // ", 4);
    size_t end = mark ? (size_t)(mark - finder->text) : line->begin;
    struct mt_range code = mt_range_trim(finder->text, line->begin, end);
    return code.begin < code.end &&
                   mt_codes_is_program(finder, &(struct mt_range){code.begin, code.end})
               ? end + 3
               : 0;
}

/* ---- commands ---- */

#define MOST_COMMAND_WORDS 6

static const char *const programs[] = {
    "apt",    "apt-get", "brew", "cargo",   "cd",  "chmod", "chown", "cp",        "curl",  "dnf",
    "docker", "git",     "grep", "kubectl", "ls",  "mkdir", "mv",    "npm",       "npx",   "pip",
    "pip3",   "python3", "rm",   "rsync",   "scp", "snap",  "ssh",   "systemctl", "tar",   "wget",
    "yarn",   "yum",     "cat",  "kill",    "ps",  "sed",   "awk",   "ln",        "touch", NULL};
static const char *const verbs[] = {"add",     "build", "clone",  "commit",  "enable",   "init",
                                    "install", "pull",  "push",   "remove",  "restart",  "run",
                                    "start",   "stop",  "update", "upgrade", "checkout", "merge",
                                    "rebase",  "fetch", "stash",  "exec",    NULL};

/* Returns whether the word at *at is one of these, and moves *at to the next word. */
static bool take_word(const struct mt_codes_finder *finder, const struct mt_range *line, size_t *at,
                      const char *const *words)
{
    size_t end = *at;
    while (end < line->end && !mt_codes_is_blank((unsigned char)finder->text[end]))
        end++;
    if (!mt_codes_is_among(words, finder->text + *at, end - *at))
        return false;
    *at = mt_codes_skip_blanks(finder, end, line->end);
    return true;
}

/* Returns whether a shell's prompt is at *at, root@host:~#, and moves *at to the next word. */
static bool take_prompt(const struct mt_codes_finder *finder, const struct mt_range *line,
                        size_t *at)
{
    const char *text = finder->text;
    size_t end = *at;
    while (end < line->end && !mt_codes_is_blank((unsigned char)text[end]))
        end++;
    const char *host = memchr(text + *at, '@', end - *at);
    if (!host || end == line->end || !mt_codes_is_one_of(text[end - 1], "#$") ||
        !memchr(host, ':', end - (size_t)(host - text)))
        return false;
    *at = mt_codes_skip_blanks(finder, end, line->end);
    return true;
}

/* Whether all words are of small letters, and none is one that sentences have: git push origin
 * main. */
static bool is_typed_like(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    static const char *const words[] = {
        "a",  "an", "the", "and", "or", "to",   "for", "from", "with", "your", "my", "is", "it",
        "of", "in", "on",  "all", "as", "this", "if",  "now",  "here", "new",  "by", NULL};
    for (size_t at = line->begin; at < line->end;) {
        size_t end = at;
        while (end < line->end && finder->text[end] != ' ')
            if (mt_ascii_is_capital(finder->text[end++]))
                return false;
        if (mt_codes_is_among(words, finder->text + at, end - at))
            return false;
        at = mt_codes_skip_blanks(finder, end, line->end);
    }
    return mt_codes_is_english(finder);
}

bool mt_codes_is_command(const struct mt_codes_finder *finder, struct mt_range range)
{
    static const char *const prompts[] = {"$", NULL}, *const roots[] = {"sudo", NULL};
    const struct mt_range line = {range.begin, range.end};
    size_t at = line.begin, n_words = 0;
    static const char *const exports[] = {"export", NULL}, *const echoes[] = {"echo", NULL};
    bool is_typed = take_word(finder, &line, &at, prompts) || take_prompt(finder, &line, &at);
    if (is_typed)
        return at < line.end && finder->text[at] >= 'a' && finder->text[at] <= 'z';
    if (take_word(finder, &line, &at, exports))
        return memchr(finder->text + at, '=', line.end - at) &&
               !memchr(finder->text + at, ' ', line.end - at);
    if (take_word(finder, &line, &at, echoes))
        return mt_codes_is_one_of(finder->text[at], "\"'$-");
    take_word(finder, &line, &at, roots);
    if (!take_word(finder, &line, &at, programs) || at == line.end ||
        mt_codes_is_one_of(finder->text[line.end - 1], ".!?:,"))
        return false;
    bool has_verb = take_word(finder, &line, &at, verbs), has_option = false, has_sign = false;
    for (size_t i = at; i < line.end; i++) {
        bool begins = mt_codes_is_blank((unsigned char)finder->text[i - 1]);
        n_words += begins;
        has_option = has_option ||
                     (begins && i + 1 < line.end && mt_codes_is_one_of(finder->text[i], "-/~") &&
                      !mt_codes_is_blank((unsigned char)finder->text[i + 1]));
        has_sign = has_sign || (begins && mt_codes_is_one_of(finder->text[i], "|>0123456789$"));
    }
    if (has_sign && n_words <= MOST_COMMAND_WORDS && is_typed_like(finder, &line))
        return true; /* ps aux | grep foo; chmod 755 file */
    return has_option ||
           (has_verb && (n_words <= 1 || (n_words == 2 && is_typed_like(finder, &line))));
}

size_t mt_codes_match_command(const struct mt_codes_finder *finder, size_t begin, size_t end)
{
    const struct mt_range line = {begin, end};
    size_t at = begin;
    if (!take_word(finder, &line, &at, programs) || at == end)
        return 0;
    if (end - at == 2 && finder->text[at] == '-' && mt_ascii_is_letter(finder->text[at + 1]))
        return end - begin; /* grep -r */
    for (const char *const *verb = verbs; *verb; verb++) {
        size_t n = strlen(*verb);
        if (end - at >= n && memcmp(finder->text + at, *verb, n) == 0 &&
            !mt_codes_is_letter(mt_codes_at(finder, at + n)) &&
            mt_codes_char(finder, at + n) != '-')
            return at + n - begin;
    }
    return 0;
}

/* ---- logs and commits ---- */

size_t mt_codes_match_commit(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    static const char *const types[] = {"feat",     "fix",   "chore", "docs", "perf",   "ci",
                                        "refactor", "style", "build", "test", "revert", NULL};
    size_t at = line->begin, n;
    while (mt_ascii_is_small(mt_codes_char(finder, at)))
        at++;
    n = at - line->begin;
    if (!mt_codes_is_among(types, finder->text + line->begin, n))
        return 0;
    if (mt_codes_char(finder, at) == '(') {
        const char *close = memchr(finder->text + at, ')', line->end - at);
        at = close ? (size_t)(close - finder->text) + 1 : at;
    }
    at += mt_codes_char(finder, at) == '!';
    return mt_codes_char(finder, at) == ':'
               ? mt_codes_before_blank(finder, line, at + 1 - line->begin)
               : 0;
}

/* Returns the length of the head of a line that syslog wrote: Nov 28 21:00:01 host sshd[123]: */
static size_t match_syslog(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    static const char pattern[] = "Aaa 00 00:00:00 "; /* before 10 the day has a blank instead */
    const char *text = finder->text + line->begin;
    size_t n = sizeof pattern - 1;
    for (size_t i = 0; i < n && line->end - line->begin > n; i++) {
        char kind = pattern[i], c = text[i];
        bool is_one = kind == 'A'   ? mt_ascii_is_capital(c)
                      : kind == 'a' ? mt_ascii_is_small(c)
                      : kind == '0' ? mt_ascii_is_digit(c) || (i == 4 && c == ' ')
                                    : c == kind;
        if (!is_one)
            return 0;
    }
    const char *end =
        line->end - line->begin > n ? memmem(text, line->end - line->begin, ": ", 2) : NULL;
    return end ? (size_t)(end - text) + 1 : 0;
}

size_t mt_codes_match_log(const struct mt_codes_finder *finder, const struct mt_range *line)
{
    static const char *const levels[] = {"TRACE", "DEBUG", "INFO", "WARN",     "WARNING",
                                         "ERROR", "FATAL", "ERR",  "CRITICAL", NULL};
    size_t at = line->begin, n_colons = 0;
    if (mt_ascii_is_letter(mt_codes_char(finder, at)))
        return match_syslog(finder, line);
    for (; mt_codes_digit_at(finder, at) || mt_codes_is_one_of(finder->text[at], "[]:.,- +/TZ");
         at++) {
        if (mt_codes_is_one_of(finder->text[at], "TZ") && !mt_codes_digit_at(finder, at - 1))
            break;
        n_colons += finder->text[at] == ':';
    }
    size_t level = at;
    while (mt_ascii_is_capital(mt_codes_char(finder, at)))
        at++;
    bool is_in_brackets = level > line->begin && finder->text[level - 1] == '[';
    if (level == line->begin || !mt_codes_is_among(levels, finder->text + level, at - level) ||
        (is_in_brackets ? mt_codes_char(finder, at) != ']' : n_colons == 0))
        return 0;
    at += is_in_brackets;
    at += mt_codes_char(finder, at) == ':';
    return mt_codes_before_blank(finder, line, at - line->begin);
}
