/* Names that are copied: files, hosts, identifiers, hashes, names with signs. */
#include "server/text/codes/codes_state.h"

#include "base/ascii.h"

#include <strings.h>

#include <unicode/uchar.h>

/* The bytes between two blanks, without punctuation at the ends. */
struct run {
    const char *text;
    size_t begin, end;
};

static size_t name_end(const struct run *run, size_t at)
{
    while (at < run->end && mt_codes_is_name_char(run->text[at]))
        at++;
    return at;
}

/* ---- identifiers ---- */

/* Whether the word is a unit that follows a number and is the same in all languages: 5 kWh, 5mAh. */
static bool is_unit(const struct run *run, size_t length)
{
    const char *word = run->text + run->begin;
    size_t before = run->begin - (run->begin > 0 && word[-1] == ' ');
    static const char *const units[] = {"kWh", "kHz", "kPa", "kJ",  "kVA",  "mAh", "mSv",
                                        "hPa", "mW",  "kW",  "dB",  "dBA",  "pH",  "eV",
                                        "kV",  "mV",  "mA",  "mL",  "kB",   "kN",  "mJ",
                                        "kBq", "dL",  "kA",  "keV", "kcal", NULL};
    return before > 0 && mt_ascii_is_digit(run->text[before - 1]) &&
           mt_codes_is_among_any_case(units, word, length);
}

/* Whether the word names a kind of failure: TypeError, IOException. */
static bool is_failure(const char *word, size_t length)
{
    static const char *const ends[] = {"Error", "Exception"};
    bool is_one = false;
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        size_t n = strlen(ends[k]);
        is_one = is_one || (length > n && memcmp(word + length - n, ends[k], n) == 0);
    }
    return is_one;
}

/* Matches camelCase with a small first letter, as in iPhone, macOS and camelCaseName, or with two
 * humps, as in NullPointerException, and TypeError. Hashes, in which letters and digits alternate,
 * are left out. */
static size_t match_camel(const struct run *run)
{
    size_t end = name_end(run, run->begin), n_humps = 0;
    for (size_t i = run->begin + 1; i < end; i++)
        n_humps += mt_ascii_is_capital(run->text[i]) && mt_ascii_is_small(run->text[i - 1]);
    bool is_ph = end - run->begin == 2 && memcmp(run->text + run->begin, "pH", 2) == 0;
    bool is_one = n_humps > mt_ascii_is_capital(run->text[run->begin]) &&
                  mt_ascii_is_letter(run->text[run->begin]) && (end - run->begin > 2 || is_ph) &&
                  !is_unit(run, end - run->begin);
    return is_one || is_failure(run->text + run->begin, end - run->begin) ? end : 0;
}

/* Matches snake_case, SCREAMING_SNAKE and _private. */
static size_t match_snake(const struct run *run)
{
    size_t end = name_end(run, run->begin), n_inner = 0, n_letters = 0;
    for (size_t i = run->begin; i < end; i++) {
        n_letters += mt_ascii_is_letter(run->text[i]);
        n_inner += run->text[i] == '_' && i > run->begin && i + 1 < end &&
                   run->text[i - 1] != '_' && run->text[i + 1] != '_';
    }
    return n_inner > 0 && n_letters > 0 ? end : 0;
}

/* Matches abbreviations with numbers in them: i18n, k8s, b2b. */
static size_t match_abridged(const struct run *run)
{
    size_t end = name_end(run, run->begin), at = run->begin, n[3] = {0};
    for (; at < end && mt_ascii_is_small(run->text[at]); at++)
        n[0]++;
    for (; at < end && mt_ascii_is_digit(run->text[at]); at++)
        n[1]++;
    for (; at < end && mt_ascii_is_small(run->text[at]); at++)
        n[2]++;
    bool is_one = n[0] == 1 && n[1] > 0 && n[1] < 3 && n[2] == 1;
    return is_one && at == end ? end : 0;
}

/* Matches branches of git, folders and names of Reddit: feature/login-page, origin/main,
 * src/main/java, u/someone. */
static size_t match_branch(const struct run *run)
{
    static const char *const names[] = {
        "feature", "bugfix", "hotfix", "release", "feat",   "fix",          "chore", "origin",
        "refs",    "u",      "r",      "src",     "api",    "lib",          "usr",   "etc",
        "opt",     "tmp",    "var",    "dist",    "vendor", "node_modules", NULL};
    size_t end = name_end(run, run->begin), at = end;
    if (at + 2 >= run->end || run->text[at] != '/' ||
        !mt_codes_is_among(names, run->text + run->begin, at - run->begin))
        return 0;
    while (at < run->end && (mt_codes_is_name_char(run->text[at]) ||
                             (at + 1 < run->end && mt_codes_is_one_of(run->text[at], "/-."))))
        at++;
    return at > end + 2 && mt_ascii_is_letter(run->text[end + 1]) ? at : 0;
}

/* Matches the issue of a project on GitHub: owner/name#12. */
static size_t match_issue(const struct run *run)
{
    size_t at = run->begin, n_slashes = 0;
    while (at < run->end &&
           (mt_codes_is_name_char(run->text[at]) || mt_codes_is_one_of(run->text[at], "-./")))
        n_slashes += run->text[at++] == '/';
    size_t digits = at + 1, end = digits;
    while (end < run->end && mt_ascii_is_digit(run->text[end]))
        end++;
    return n_slashes < 2 && at > run->begin && at < run->end && run->text[at] == '#' && end > digits
               ? end
               : 0;
}

/* Matches calls such as print(), obj.method(x, 1) and alert("Hi"), but neither "file(s)" nor
 * "f(x)". */
static size_t match_call(const struct run *run)
{
    size_t at = name_end(run, run->begin);
    while (at < run->end && mt_codes_is_one_of(run->text[at], ".:") && at > run->begin)
        at = name_end(run, at + 1);
    if (at == run->begin || at >= run->end || run->text[at] != '(' ||
        !mt_ascii_is_letter(run->text[run->begin]))
        return 0;
    const char *close = memchr(run->text + at, ')', run->end - at);
    if (!close)
        return 0;
    size_t end = (size_t)(close - run->text) + 1;
    while (end + 1 < run->end && run->text[end] == '.' && mt_ascii_is_letter(run->text[end + 1])) {
        end = name_end(run, end + 1);
        if (end + 1 < run->end && run->text[end] == '(' && run->text[end + 1] == ')')
            end += 2;
    }
    bool is_code = (size_t)(close - run->text) == at + 1;
    for (size_t i = at + 1; i + 1 < end; i++)
        is_code = is_code || mt_codes_is_one_of(run->text[i], "\"'=,") ||
                  (mt_ascii_is_digit(run->text[i]) && mt_ascii_is_small(run->text[run->begin]));
    return is_code ? end : 0;
}

/* Matches 7 to 40 hexadecimal digits in which letters and digits are mixed, as in a1b2c3d; 0x1F;
 * and abc123XYZ. */
static size_t match_hash(const struct run *run)
{
    size_t end = name_end(run, run->begin), n_letters = 0, n_digits = 0, n_turns = 0;
    bool is_hex = true, has_small = false, has_capital = false;
    for (size_t i = run->begin; i < end; i++) {
        char c = run->text[i];
        is_hex = is_hex && mt_hex_digit(c) >= 0;
        n_digits += mt_ascii_is_digit(c);
        n_letters += !mt_ascii_is_digit(c);
        has_small = has_small || mt_ascii_is_small(c);
        has_capital = has_capital || mt_ascii_is_capital(c);
        n_turns += i > run->begin && mt_ascii_is_digit(c) != mt_ascii_is_digit(run->text[i - 1]);
    }
    bool is_address =
        end - run->begin > 2 && run->text[run->begin] == '0' && run->text[run->begin + 1] == 'x';
    size_t n = end - run->begin;
    bool is_mixed = n_turns > 2   ? n >= 5 /* a1b2c3 */
                    : n_turns > 1 ? n >= 7
                                  : n_turns == 1 && n >= 8; /* deadbeef42, but not facade2 */
    bool is_hash =
        is_hex && is_mixed && n_letters > 0 && n_digits > 1 && !(has_small && has_capital);
    bool is_key = n >= 7 && n_turns > 1 && n_digits > 1 && has_small && has_capital;
    return is_address || is_hash || is_key ? end : 0;
}

/* Matches at least two small letters and then at least two digits: guest1234, server01. */
static size_t match_numbered(const struct run *run)
{
    size_t end = name_end(run, run->begin), digits = run->begin;
    while (digits < end && mt_ascii_is_small(run->text[digits]))
        digits++;
    size_t at = digits;
    while (at < end && mt_ascii_is_digit(run->text[at]))
        at++;
    return at == end && digits - run->begin > 1 && end - digits > 1 ? end : 0;
}

/* Matches numbers of orders, bills, standards and telephones: INV-2024-001, AB-1234, 1-800-FLOWERS.
 * COVID-19 and F-16 are names. */
static size_t match_serial(const struct run *run)
{
    size_t at = run->begin, n_digits = 0, n_hyphens = 0, n_capitals = 0;
    for (; at < run->end; at++) {
        char c = run->text[at];
        if (!mt_ascii_is_capital(c) && !mt_ascii_is_digit(c) && c != '-')
            return 0;
        n_digits += mt_ascii_is_digit(c);
        n_hyphens += c == '-';
        n_capitals += mt_ascii_is_capital(c);
    }
    bool is_one = mt_ascii_is_capital(run->text[run->begin]) && n_hyphens > 0 && n_digits > 2 &&
                  mt_ascii_is_digit(run->text[at - 1]);
    bool is_telephone =
        mt_ascii_is_digit(run->text[run->begin]) && n_hyphens > 1 && n_digits > 3 && n_capitals > 2;
    return is_one || is_telephone ? at : 0;
}

/* Matches names such as O'Reilly and D'Angelo. */
static size_t match_apostrophe(const struct run *run)
{
    const char *text = run->text + run->begin;
    size_t n = run->end - run->begin > 2 ? mt_char_length(text + 1) : 0, at;
    uint32_t mark = n > 0 ? mt_utf8_decode(text + 1) : 0;
    if (!mt_ascii_is_capital(text[0]) || (mark != '\'' && mark != 0x2019) ||
        !mt_ascii_is_capital(text[1 + n]) || !mt_ascii_is_small(text[2 + n]))
        return 0;
    for (at = run->begin + 2 + n; at < run->end && mt_ascii_is_letter(run->text[at]);)
        at++;
    return at;
}

/* ---- hosts and files ---- */

static const char *const endings[] = {
    "pdf",   "txt", "doc", "docx", "xls",        "xlsx",  "ppt", "pptx", "csv",  "tsv", "json",
    "yaml",  "yml", "xml", "html", "htm",        "css",   "js",  "ts",   "jsx",  "tsx", "py",
    "rb",    "rs",  "go",  "java", "c",          "h",     "cc",  "cpp",  "hpp",  "cs",  "php",
    "sh",    "bat", "exe", "dll",  "so",         "zip",   "tar", "gz",   "tgz",  "bz2", "xz",
    "7z",    "rar", "jpg", "jpeg", "png",        "gif",   "svg", "webp", "bmp",  "ico", "tif",
    "tiff",  "mp3", "mp4", "mkv",  "avi",        "mov",   "wav", "flac", "ogg",  "md",  "rst",
    "log",   "ini", "cfg", "conf", "toml",       "lock",  "sql", "db",   "tmp",  "bak", "iso",
    "img",   "dmg", "apk", "deb",  "rpm",        "jar",   "war", "srt",  "vtt",  "po",  "pot",
    "mo",    "odt", "ods", "odp",  "epub",       "psd",   "ttf", "otf",  "woff", "tex", "bib",
    "ipynb", "kt",  "lua", "env",  "properties", "plist", "net", NULL};
static const char *const domains[] = {"com", "org", "net", "io",   "edu", "gov", "de",
                                      "fr",  "uk",  "eu",  "ch",   "at",  "jp",  "co",
                                      "app", "dev", "ai",  "info", NULL};
/* Abbreviations whose full stop is often followed by the next word without a blank. */
static const char *const abbreviations[] = {
    "etc", "vs", "mr", "mrs", "dr", "no",     "nos", "vol", "fig",  "pp",  "ca", "inc",
    "ltd", "jr", "sr", "st",  "al", "approx", "bzw", "usw", "evtl", "ggf", NULL};

static bool is_label_at(const struct run *run, size_t at)
{
    char c = run->text[at];
    if ((unsigned char)c < 0x80)
        return mt_codes_is_name_char(c) || c == '-';
    uint32_t code_point = mt_utf8_decode(run->text + at);
    return code_point < MT_FIRST_IDEOGRAPH && u_isalnum((UChar32)code_point);
}

struct labels {
    /* numbers of labels: all of them, and those of each kind */
    size_t n, n_short, n_capital, n_numbers;
    struct mt_range first, last;
    size_t end;
    bool has_library; /* libssl.so.1.1 */
};

static void count_label(const struct run *run, struct mt_range label, struct labels *labels)
{
    bool is_number = true;
    for (size_t i = label.begin; i < label.end; i++)
        is_number = is_number && (mt_ascii_is_digit(run->text[i]) || run->text[i] == '-');
    if (labels->n++ == 0)
        labels->first = label;
    else
        labels->n_capital += mt_ascii_is_capital(run->text[label.begin]);
    size_t n_last = labels->last.end - labels->last.begin;
    labels->has_library =
        labels->has_library || (is_number && labels->n > 2 && n_last == 2 &&
                                memcmp(run->text + labels->last.begin, "so", 2) == 0);
    labels->last = label;
    labels->n_short += label.end - label.begin < 2;
    labels->n_numbers += is_number;
    labels->end = label.end;
}

/* Reads name.name.name from text[at] on. */
static struct labels read_labels(const struct run *run, size_t at)
{
    struct labels labels = {0};
    while (at < run->end) {
        size_t begin = at;
        while (at < run->end && is_label_at(run, at))
            at += mt_char_length(run->text + at);
        if (at == begin)
            break;
        count_label(run, (struct mt_range){begin, at}, &labels);
        if (at + 1 >= run->end || run->text[at] != '.')
            break;
        at++;
    }
    return labels;
}

static bool is_file_or_host(const struct run *run, const struct labels *labels)
{
    const char *last = run->text + labels->last.begin, *first = run->text + labels->first.begin;
    size_t n_last = labels->last.end - labels->last.begin;
    size_t n_first = labels->first.end - labels->first.begin;
    if (labels->n < 2 || labels->n_numbers == labels->n)
        return false;
    if (labels->has_library)
        return true;
    if (mt_codes_is_among_any_case(endings, last, n_last) &&
        (n_last > 1 || (n_first > 1 && mt_ascii_is_small(first[0]))))
        return !mt_codes_is_among_any_case(abbreviations, first, n_first);
    if (labels->n_short == 0 && labels->n_numbers == 0)
        return !mt_codes_is_among_any_case(abbreviations, first, n_first) &&
               (labels->n_capital == 0 || labels->n > 2);
    return labels->n_numbers == 0 && mt_codes_is_among_any_case(domains, last, n_last);
}

/* Returns the length of the (2) in report(2).docx. */
static size_t copy_number_length(const struct run *run, size_t at)
{
    size_t end = at + 1;
    if (run->text[at] != '(')
        return 0;
    while (end < run->end && end - at <= 4 && mt_ascii_is_digit(run->text[end]))
        end++;
    bool is_one =
        end > at + 1 && end + 1 < run->end && run->text[end] == ')' && run->text[end + 1] == '.';
    return is_one ? end + 1 - at : 0;
}

/* Matches hosts and files: example.com:8080/path, report.pdf, user.name; .NET, .gitignore,
 * /usr/bin, ./run, ~/x. */
static size_t match_path(const struct run *run)
{
    size_t at = run->begin, n_slashes = 0;
    while (at < run->end && mt_codes_is_one_of(run->text[at], "/.~")) {
        n_slashes += run->text[at] == '/';
        at++;
    }
    size_t n_lead = at - run->begin;
    struct labels labels = read_labels(run, at);
    bool is_path = is_file_or_host(run, &labels);
    if (labels.n == 0 || n_lead > 3)
        return 0;
    if (n_lead > 0) { /* needs a word of small letters, or a file's ending behind the full stop */
        size_t n = labels.end - at;
        bool has_two =
            labels.end + 1 < run->end && run->text[labels.end] == '/' &&
            mt_ascii_is_letter(run->text[labels.end + 1]); /* /Applications/Foo, /r/ask */
        bool is_word =
            has_two ||
            (n > 2 && (mt_ascii_is_small(run->text[at]) || run->text[run->begin] != '/'));
        is_path = n_slashes > 0 ? is_word || is_path
                                : n_lead == 1 && n > 1 &&
                                      (mt_codes_is_among_any_case(endings, run->text + at, n) ||
                                       mt_codes_is_among_any_case(domains, run->text + at, n) ||
                                       strncmp(run->text + at, "git", 3) == 0);
    }
    size_t end = labels.end;
    while (end < run->end && run->text[end] == '/' && !is_path && n_lead == 0) { /* src/main.c */
        labels = read_labels(run, end + 1);
        if (labels.n == 0)
            return 0;
        end = labels.end;
        is_path = labels.n > 1 && is_file_or_host(run, &labels);
    }
    if (!is_path)
        return 0;
    if (end + 1 < run->end && run->text[end] == ':' && mt_ascii_is_digit(run->text[end + 1]))
        end = name_end(run, end + 1);
    for (size_t n = 1; end < run->end && n; end += n) {
        n = copy_number_length(run, end);
        if (mt_codes_is_one_of(run->text[end], "/?=&%#+_-.~") || is_label_at(run, end))
            n = mt_char_length(run->text + end);
    }
    return end;
}

/* ---- names with signs ---- */

/* Matches AT&T, Q&A, R&D. */
static size_t match_ampersand(const struct run *run)
{
    size_t at = run->begin, n = 0;
    for (;;) {
        size_t begin = at;
        while (at < run->end && mt_codes_is_letter(mt_utf8_decode(run->text + at)))
            at += mt_char_length(run->text + at);
        if (at == begin)
            return 0;
        if (at >= run->end || run->text[at] != '&')
            return n > 0 ? at : 0;
        at++;
        n++;
    }
}

/* Matches cells of a spreadsheet: Sheet1!A1, $A$1, A1:B2. */
static size_t match_cell(const struct run *run)
{
    size_t at = run->begin, n_cells = 0, n_signs = 0, sheet = name_end(run, at);
    if (sheet > at && sheet < run->end && run->text[sheet] == '!') {
        at = sheet + 1;
        n_signs++;
    }
    for (;;) {
        size_t letters = at;
        n_signs += at < run->end && run->text[at] == '$';
        at += at < run->end && run->text[at] == '$';
        size_t from = at;
        while (at < run->end && mt_ascii_is_capital(run->text[at]))
            at++;
        n_signs += at < run->end && run->text[at] == '$';
        size_t digits = at += at < run->end && run->text[at] == '$';
        while (at < run->end && mt_ascii_is_digit(run->text[at]))
            at++;
        if (digits == from || at == digits || at == letters)
            return 0;
        n_cells++;
        if (at + 1 >= run->end || run->text[at] != ':')
            break;
        at++;
    }
    return at == run->end && n_cells + n_signs > 1 ? at : 0;
}

/* Matches patterns of dates and times: YYYY-MM-DD, dd.MM.yyyy, HH:mm:ss. */
static size_t match_pattern(const struct run *run)
{
    size_t at = run->begin, n_groups = 0;
    while (at < run->end) {
        size_t from = at;
        while (at < run->end && run->text[at] == run->text[from] &&
               mt_codes_is_one_of(run->text[at], "YyMDdHhmsS"))
            at++;
        if (at - from < 2 || at - from > 4)
            return 0;
        n_groups++;
        at += at + 1 < run->end && mt_codes_is_one_of(run->text[at], "-/.:");
    }
    return n_groups > 1 ? at : 0;
}

/* Matches an image and its tag: nginx:1.25-alpine. */
static size_t match_image(const struct run *run)
{
    size_t at = run->begin;
    bool is_version = false;
    while (at < run->end && (mt_ascii_is_small(run->text[at]) ||
                             (at > run->begin && mt_codes_is_one_of(run->text[at], "-/_"))))
        at++;
    if (at == run->begin || at + 1 >= run->end || run->text[at] != ':' ||
        !mt_ascii_is_digit(run->text[at + 1]))
        return 0;
    for (at++; at < run->end &&
               (mt_codes_is_name_char(run->text[at]) || mt_codes_is_one_of(run->text[at], ".-"));
         at++)
        is_version = is_version || mt_ascii_is_small(run->text[at]);
    return at == run->end && is_version ? at : 0;
}

/* Matches codes of languages with their countries: en-US, pt_BR. */
static size_t match_locale(const struct run *run)
{
    const char *text = run->text + run->begin;
    return run->end - run->begin == 5 && mt_ascii_is_small(text[0]) && mt_ascii_is_small(text[1]) &&
                   (text[2] == '-' || text[2] == '_') && mt_ascii_is_capital(text[3]) &&
                   mt_ascii_is_capital(text[4])
               ? run->end
               : 0;
}

/* Matches formulas with Markdown's indices: H~2~O, x^2^. */
static size_t match_indexed(const struct run *run)
{
    size_t at = name_end(run, run->begin), n = 0;
    while (at > run->begin && at + 2 < run->end && mt_codes_is_one_of(run->text[at], "~^")) {
        size_t end = name_end(run, at + 1);
        if (end == at + 1 || end >= run->end || run->text[end] != run->text[at])
            break;
        at = name_end(run, end + 1);
        n++;
    }
    return n > 0 ? at : 0;
}

/* Matches names with a quoted letter or word inside: Toys"R"Us. */
static size_t match_quoting(const struct run *run)
{
    size_t at = run->begin, n = 0;
    for (; at < run->end; at++) {
        bool is_mark = run->text[at] == '"' && at > run->begin && at + 1 < run->end &&
                       mt_ascii_is_letter(run->text[at - 1]) &&
                       mt_ascii_is_letter(run->text[at + 1]);
        if (!is_mark && !mt_ascii_is_letter(run->text[at]))
            break;
        n += is_mark;
    }
    return n == 2 && at == run->end ? at : 0;
}

/* Matches C++, C#, F#, Notepad++. */
static size_t match_sharp(const struct run *run)
{
    size_t at = run->begin;
    while (at < run->end && mt_ascii_is_letter(run->text[at]))
        at++;
    if (at == run->begin || at >= run->end)
        return 0;
    if (run->end - at >= 2 && run->text[at] == '+' && run->text[at + 1] == '+')
        return at + 2;
    return run->text[at] == '#' && at - run->begin == 1 &&
                   mt_ascii_is_capital(run->text[run->begin])
               ? at + 1
               : 0;
}

/* Matches options of programs: --verbose, --no-color=always. */
static size_t match_flag(const struct run *run)
{
    size_t at = run->begin + 2;
    if (run->end - run->begin < 4 || memcmp(run->text + run->begin, "--", 2) != 0 ||
        !mt_ascii_is_small(run->text[at]))
        return 0;
    while (at < run->end && (mt_codes_is_name_char(run->text[at]) || run->text[at] == '-'))
        at++;
    return at == run->end || run->text[at] == '=' ? run->end : 0;
}

/* Matches fields of HTTP: X-Forwarded-For, Access-Control-Allow-Origin, Content-Type. */
static size_t match_field(const struct run *run)
{
    static const char *const names[] = {
        "Content-Type",  "Content-Length", "User-Agent", "Content-Disposition",
        "Cache-Control", "Set-Cookie",     NULL};
    const char *text = run->text + run->begin;
    size_t at = run->begin, n_parts = 0, n = run->end - run->begin;
    while (at < run->end && mt_ascii_is_capital(run->text[at])) {
        while (at < run->end && mt_codes_is_name_char(run->text[at]))
            at++;
        n_parts++;
        at += at + 1 < run->end && run->text[at] == '-';
    }
    bool is_field =
        n_parts > 2 && (strncmp(text, "X-", 2) == 0 || strncmp(text, "Access-", 7) == 0);
    return at == run->end && (is_field || mt_codes_is_among(names, text, n)) ? at : 0;
}

/* Matches std::string, user@host, a[i] and foo["x"], but not the note in "Paris[1]". */
static size_t match_joined(const struct run *run)
{
    size_t at = name_end(run, run->begin), n = 0;
    if (at == run->begin || at >= run->end || !mt_ascii_is_letter(run->text[run->begin]))
        return 0;
    if (run->text[at] == '[') {
        const char *close = memchr(run->text + at, ']', run->end - at);
        size_t end = close ? (size_t)(close - run->text) + 1 : 0;
        bool is_index = end > at + 2 && !mt_ascii_is_digit(run->text[at + 1]) &&
                        (end - at == 3 || mt_codes_is_one_of(run->text[at + 1], "'\"$"));
        return is_index ? end : 0;
    }
    while (at + 2 < run->end && (memcmp(run->text + at, "::", 2) == 0 || run->text[at] == '@')) {
        size_t next = at + (run->text[at] == ':' ? 2 : 1), end = name_end(run, next);
        if (end == next || mt_ascii_is_digit(run->text[next]))
            break;
        at = end;
        n++;
    }
    return n > 0 ? at : 0;
}

/* Matches localhost:8080, HTTP/1.1, HTTP/2. */
static size_t match_protocol(const struct run *run)
{
    size_t at = run->begin;
    if (run->end - at > 10 && memcmp(run->text + at, "localhost:", 10) == 0)
        return run->end;
    while (at < run->end && mt_ascii_is_capital(run->text[at]))
        at++;
    if (at - run->begin < 3 || at + 1 >= run->end || run->text[at] != '/' ||
        !mt_ascii_is_digit(run->text[at + 1]))
        return 0;
    at++;
    while (at < run->end && (mt_ascii_is_digit(run->text[at]) || run->text[at] == '.'))
        at++;
    return at;
}

/* ---- all of them ---- */

/* Whether a name may end at `end`: what follows, such as "'s" or a hyphen, belongs to the
 * sentence. */
static bool ends_at(const struct run *run, size_t end)
{
    if (end >= run->end)
        return true;
    uint32_t c = mt_utf8_decode(run->text + end);
    return c == '\'' || c == 0x2019 || c == '-' || c == '/' || c == ')' || c == ',' || c == ':' ||
           c == '.' || c == '`' || c == '[' || c >= MT_FIRST_IDEOGRAPH;
}

size_t mt_codes_match_name(const char *text, size_t begin, size_t end)
{
    static size_t (*const matchers[])(const struct run *run) = {
        match_call,     match_path,      match_camel,   match_snake,      match_hash,
        match_numbered, match_ampersand, match_sharp,   match_protocol,   match_flag,
        match_field,    match_joined,    match_serial,  match_apostrophe, match_abridged,
        match_branch,   match_issue,     match_quoting, match_indexed,    match_cell,
        match_pattern,  match_image,     match_locale};
    const struct run run = {text, begin, end};
    for (size_t k = 0; k < sizeof matchers / sizeof *matchers && begin < end; k++) {
        size_t found = matchers[k](&run);
        if (found && ends_at(&run, found))
            return found - begin;
    }
    return 0;
}
