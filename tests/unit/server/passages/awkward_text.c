#include "tests/unit/server/passages/awkward_text.h"

#include <string.h>

static const char *const words[] = {
    "Hello",
    "house",
    "the",
    "old",
    "Tom",
    "is",
    "a",
    "I",
    "like",
    "it",
    "Press",
    "Settings",
    "Privacy",
    "Save",
    "caf\u00E9",
    "na\u00EFve",
    "NASA",
    "can't",
    "don\u2019t",
    "well-known",
    "no no no",
    "had had",
    "that that",
    "you you",
    "Wait... what?",
    "THE OLD HOUSE",
    "[Music]",
    "(old house)",
    "House",
    "files",
    "of",
    "and",
    "Sentence one. Sentence two.",
    "Mr. Smith",
    "e.g.",
    "U.S.",
    "O",
    "x",
    "b",
    "\u00DCbung",
};

static const char *const numbers[] = {
    "3",
    "10",
    "1,234.56",
    "50%",
    "$5",
    "2.0",
    "12:30 p.m.",
    "3:0",
    "No. 5",
    "1/2",
    "24/7",
    "-3.5",
    "192.168.0.1",
    "2024-11-08T12:30:00Z",
    "1st",
    "5'11\"",
    "$1.2bn",
    "5 USD",
    "Version 2.0",
    "1-2",
    "2 < 3",
    "a < b",
    "10 \u00D7 20",
    "x^2",
    "p < 0.05",
    "5 > 4 && 3 >= 2",
    "\u00A55000",
    "30\u00B0",
    "3\u00BD",
    "\u00BD",
    "+49 30 123456",
    "#1",
};

static const char *const marks[] = {
    ",",
    ".",
    "!",
    "?",
    ":",
    ";",
    "-",
    "(",
    ")",
    "\"",
    "'",
    "&",
    "/",
    "#",
    "*",
    "_",
    "=",
    "+",
    "~",
    "%",
    "$",
    "@",
    "[",
    "]",
    "{",
    "}",
    "--",
    " - ",
    " | ",
    " > ",
    " \u00BB ",
    "\u2013",
    "\u2014",
    "\u2026",
    "\u201C",
    "\u201D",
    "\u2018",
    "\u2019",
    "\u00AB",
    "\u00BB",
    "\"Hello\"",
    "'house'",
    "\u00ABold\u00BB",
    "\u201EHaus\u201C",
    "<",
    ">",
    "|",
    "\\",
    "^",
    "`",
    "\u00D7",
    "\u2192",
    "\u2022",
    "\u2122",
    "\u2605\u2605\u2606",
    "\u266A",
    "\u00B7",
    "\u00A9",
    "\u2713",
    "\u25BE",
    "\u2500\u2500",
    "<3",
    ":-)",
    "->",
    "=>",
    "\u00A7",
    "\u00B1",
    "\u221E",
    "\u20BF",
};

static const char *const runs[] = {
    "!!!!",   "?!",  "....",  ".........",    "____",        "-----",        "***",
    "????",   "!?!", "=====", "~~~",          "......",      "\u3002\u3002", "\uFF01\uFF01",
    "\uFF1F", " !",  " ?!",   "\u2026\u2026", "......... 5",
};

static const char *const blanks[] = {
    "  ", "\t", "\u00A0", "\u2009", "\u3000", "   ", " \t ", "\u2003",
};

static const char *const lines[] = {
    "\n",   "\n\n", "\r\n", "\r\n\r\n", "\n  ",  " \n",
    "\n\t", "\n- ", "\n* ", "\n> ",     "\n1. ", "\n# ",
};

static const char *const codes[] = {
    "{name}",
    "%s",
    "%d",
    "{{ x }}",
    "${y}",
    "%(name)s",
    "https://example.com/a?b=1&c=(2)",
    "a.b@example.org",
    "report.pdf",
    "config.yaml",
    "snake_case",
    "print()",
    "obj.method()",
    "@everyone",
    "#sun",
    ":smile:",
    "__count__",
    "%from%",
    "###T01###",
    "C++",
    "AT&T",
    "iPhone",
    "camelCaseName",
    "example.com",
    "a1b2c3d",
    "SW1A 2AA",
    "C:\\Users\\Public",
    "\\n",
    "\\N",
    "{% if x %}",
    "{% endif %}",
    "<%= x %>",
    "[%key:a%]",
    "$VAR",
    "file_%d",
    "{n}px",
    "{x}{y}",
    "{n, plural, one {# file} other {# files}}",
    "{g, select, male {his} other {their}}",
    "{count, plural, =0 {none} other {{name} and # more}}",
    "{",
    "}",
    "{}",
    "{0}",
    "%",
    "%%",
};

static const char *const tags[] = {
    "<b>",
    "</b>",
    "<b>OK</b>",
    "<b>old house</b>",
    "<i>",
    "</i>",
    "<0>",
    "</0>",
    "<0>here</0>",
    "<x id=\"1\"/>",
    "<br>",
    "<br/>",
    "[b]",
    "[/b]",
    "[b]bold[/b]",
    "{\\i1}",
    "{\\i0}",
    "{\\i1}old{\\i0}",
    "{\\an8}",
    "<a href=\"x.html\">here</a>",
    "<b><i>both</i></b>",
    "<b></b>",
    "**bold**",
    "*it*",
    "**",
    "*",
    "`code`",
    "~~gone~~",
    "[text](http://a.de/x)",
    "![alt](a.png)",
    "| a | b |",
    "|---|---|",
    "```\ncode\n```",
    "_it_",
    "na<b>me</b>",
    "</p>",
    "<p>",
    "<li>",
    "<g1>old</g1>",
    "<img src=a.png>",
    "<!-- note -->",
};

static const char *const others[] = {
    "\u041C\u043E\u0441\u043A\u0432\u0430",
    "\u65E5\u672C\u8A9E",
    "\u300C\u4FDD\u5B58\u300D",
    "\u05E9\u05DC\u05D5\u05DD",
    "\u0E2A\u0E27\u0E31\u0E2A\u0E14\u0E35",
    "\u0928\u092E\u0938\u094D\u0924\u0947",
    "\u0395\u03BB\u03BB\u03AC\u03B4\u03B1",
    "\u03C0",
    "H\u2082O",
    "CO\u2082",
    "m\u00B2",
    "\u3010Test\u3011",
    "\uAC00\uB098",
    "\u0645\u0631\u062D\u0628\u0627",
    "Save\u4FDD\u5B58",
    "\u4F60\u597D\u3002\u5417\uFF1F",
};

static const char *const invisible[] = {
    "\uFE0F", "\u00AD",     "\u200D", "\u034F",      "\u061C",         "\uFEFF",
    "\u2060", "\U000E0041", "\u200E", "ho\u00ADuse", "old\u2060house",
};

/* Parsers of HTML put U+FFFD in their place, so that a text with one is copied. */
static const char *const controls[] = {"\x01", "\x7F", "\x1B", "\xC2\x85"};

static const char *const pictures[] = {
    "\U0001F600",           "\U0001F44D\U0001F3FD", "\u2764\uFE0F",
    "\U0001F1E9\U0001F1EA", "1\uFE0F\u20E3",        "\U0001F468\u200D\U0001F469\u200D\U0001F467",
    "\U0001F600\U0001F600",
};

static const char *const composed[] = {
    "cafe\u0301", "a\u0308pfel", "e\u0301", "\u0301", "z\u0336a\u0336l\u0336",
};

static const char *const html[] = {
    "&amp;",
    "&lt;",
    "&gt;",
    "&nbsp;",
    "caf&eacute;",
    "&#39;",
    "&",
    "&x;",
    "<p>",
    "</p>",
    "<br>",
    "<p>Old house.</p>",
    "<a href=\"x\">Home</a>",
    "<a>Home</a><a>About</a>",
    "<span>",
    "</span>",
    "<sup>2</sup>",
    "H<sub>2</sub>O",
    "<code>x = 1</code>",
    "<img src=a alt='b'>",
    "<!-- note -->",
    "<ul><li>old</li><li>house</li></ul>",
    "<script>if (a<b) x()</script>",
    "<button>Save</button>",
    "<td>",
    "<?php echo 1 ?>",
    "<b>",
    "</b>",
    "<b>OK</b>",
    "<i>it</i>",
    "<b><i>both</i></b>",
    "<x id=\"1\"/>",
    "<span> </span>",
    "<span translate=\"no\">Foo</span>",
    "<b> old </b>",
    "<em>na</em>me",
    "<span>Price</span><span>$5</span>",
    "<div>",
    "</div>",
    "<h1>House</h1>",
    "<![CDATA[x]]>",
    "<input value=a>",
    "<b></b>",
    "<u><br></u>",
    "<pre>a  b</pre>",
    "</x>",
    "<button>Save</button> <button>Cancel</button>",
    "<span>Hello.</span><span>Bye.</span>",
    "<a>old<b>er</a></b>",
    "<font color=red>",
    "</font>",
    "<p",
    "< b",
    "<table><tr>",
};

static const char *const srt[] = {
    "<i>",
    "</i>",
    "<i>old house</i>",
    "{\\an8}",
    "<font color=\"red\">",
    "</font>",
    "<b>",
    "</b>",
    "\u266A",
    "- ",
    ">> ",
    "{y:i}",
    "[MUSIC]",
    "TOM: ",
    "<i>Old</i> house",
    "na<i>me</i>",
    "(sighs)",
};

static const char *const vtt[] = {
    "<v Anna>",
    "<c.loud>",
    "</c>",
    "<00:01.000>",
    "&amp;",
    "&lt;",
    "&gt;",
    "&nbsp;",
    "<i>",
    "</i>",
    "<i>old house</i>",
    "<c>old</c>",
    "&lrm;",
    "&x;",
    "- ",
    "<b><i>both</i></b>",
    "&#39;",
};

#define GROUP(name, weight, formats)                      \
    {                                                     \
        name, sizeof name / sizeof *name, weight, formats \
    }

enum { PLAIN = 1 << AWKWARD_PLAIN, HTML = 1 << AWKWARD_HTML, SRT = 1 << AWKWARD_SRT };
enum { VTT = 1 << AWKWARD_VTT, ALL = PLAIN | HTML | SRT | VTT };

static const struct group {
    const char *const *pieces;
    size_t n, weight;
    unsigned formats;
} groups[] = {
    GROUP(words, 40, ALL),
    GROUP(numbers, 6, ALL),
    GROUP(marks, 10, ALL),
    GROUP(runs, 4, ALL),
    GROUP(blanks, 4, ALL),
    GROUP(lines, 4, PLAIN | HTML),
    GROUP(codes, 8, ALL),
    GROUP(tags, 8, PLAIN),
    GROUP(others, 5, ALL),
    GROUP(invisible, 3, ALL),
    GROUP(controls, 1, PLAIN | SRT | VTT),
    GROUP(pictures, 3, ALL),
    GROUP(composed, 2, ALL),
    GROUP(html, 24, HTML),
    GROUP(srt, 12, SRT),
    GROUP(vtt, 12, VTT),
};
#define N_GROUPS (sizeof groups / sizeof *groups)

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static const char *choose_piece(uint32_t *state, enum awkward_format format)
{
    size_t all = 0;
    for (size_t i = 0; i < N_GROUPS; i++)
        all += groups[i].formats >> format & 1 ? groups[i].weight : 0;
    size_t at = next_random(state) % all;
    for (size_t i = 0; i < N_GROUPS; i++) {
        size_t weight = groups[i].formats >> format & 1 ? groups[i].weight : 0;
        if (at < weight)
            return groups[i].pieces[next_random(state) % groups[i].n];
        at -= weight;
    }
    return "";
}

void awkward_make(uint32_t seed, enum awkward_format format, struct awkward_text *out)
{
    uint32_t state = seed * 2654435761u + 20261126;
    (void)next_random(&state);
    size_t n = 1 + next_random(&state) % (AWKWARD_MAX_PIECES / 2);
    out->n = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && next_random(&state) % 4 > 0)
            out->pieces[out->n++] = " ";
        out->pieces[out->n++] = choose_piece(&state, format);
    }
}

void awkward_write(const struct awkward_text *text, struct mt_text *out)
{
    mt_text_append(out, "", 0);
    for (size_t i = 0; i < text->n; i++)
        mt_text_append_string(out, text->pieces[i]);
}

void awkward_minimise(struct awkward_text *text, awkward_fails *fails, void *context)
{
    for (size_t n = text->n; n > 0;) {
        bool has_shrunk = false;
        for (size_t at = 0; at + n <= text->n;) {
            struct awkward_text less = *text;
            memmove(less.pieces + at, less.pieces + at + n,
                    (less.n - at - n) * sizeof *less.pieces);
            less.n -= n;
            bool is_enough = fails(context, &less);
            has_shrunk = has_shrunk || is_enough;
            if (is_enough)
                *text = less;
            else
                at++;
        }
        n = has_shrunk && n == 1 ? n : n / 2;
    }
}

const char *awkward_piece(enum awkward_format format, size_t index)
{
    for (size_t i = 0; i < N_GROUPS; i++) {
        if (!(groups[i].formats >> format & 1))
            continue;
        if (index < groups[i].n)
            return groups[i].pieces[index];
        index -= groups[i].n;
    }
    return NULL;
}
