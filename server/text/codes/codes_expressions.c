/* Finds expressions, which are operands with operators between them: "a < b", "10 × 20", "x^2 +
 * y^2", "5 < 6 && 7 > 6". At least one operator has to be certain, because prose has hyphens and
 * slashes, too. */
#include "server/text/codes/codes_state.h"

#include <unicode/uchar.h>

enum operator_kind {
    NO_OPERATOR,
    WEAK_OPERATOR,   /* + - * / and the like: part of an expression that has a stronger one */
    STRONG_OPERATOR, /* makes it an expression */
    COMPARISON,      /* the same; before a number it needs no left operand: "> 30" */
};

/* Returns the kind of the operator that text[at, end) begins with; *n gets its length. */
static enum operator_kind operator_at(const struct mt_codes_finder *finder, size_t at, size_t end,
                                      size_t *n)
{
    static const struct {
        const char *bytes;
        enum operator_kind kind;
    } operators[] = {{"<=>", STRONG_OPERATOR}, {"===", STRONG_OPERATOR}, {"!==", STRONG_OPERATOR},
                     {"-->", STRONG_OPERATOR}, {"<--", STRONG_OPERATOR}, {"<=", COMPARISON},
                     {">=", COMPARISON},       {"==", COMPARISON},       {"!=", COMPARISON},
                     {"&&", STRONG_OPERATOR},  {"||", STRONG_OPERATOR},  {"->", STRONG_OPERATOR},
                     {"=>", STRONG_OPERATOR},  {"+=", STRONG_OPERATOR},  {"-=", STRONG_OPERATOR},
                     {":=", STRONG_OPERATOR},  {"**", WEAK_OPERATOR},    {"<", COMPARISON},
                     {">", COMPARISON},        {"=", STRONG_OPERATOR},   {"^", STRONG_OPERATOR},
                     {"+", WEAK_OPERATOR},     {"-", WEAK_OPERATOR},     {"*", WEAK_OPERATOR},
                     {"&", WEAK_OPERATOR},     {"/", WEAK_OPERATOR}};
    bool may_be_one = at < end && mt_codes_is_one_of(finder->text[at], "<>=!&|^+-*/:");
    for (size_t k = 0; may_be_one && k < sizeof operators / sizeof *operators; k++) {
        *n = strlen(operators[k].bytes);
        if (end - at >= *n && memcmp(finder->text + at, operators[k].bytes, *n) == 0)
            return operators[k].kind;
    }
    *n = 0;
    if (at >= end || (unsigned char)finder->text[at] < 0x80)
        return NO_OPERATOR;
    uint32_t c = mt_codes_at(finder, at);
    *n = mt_codes_next(finder, at) - at;
    if (c == 0xB1 || c == 0x2248 || c == 0x2260 || c == 0x2264 || c == 0x2265 || c == 0x2A7D ||
        c == 0x2A7E)
        return mt_codes_is_unread(finder, c) ? COMPARISON : WEAK_OPERATOR;
    if (c == 0x2212 || c == 0x2013 || c == 0xB7)
        return WEAK_OPERATOR;
    if (u_charType((UChar32)c) == U_MATH_SYMBOL)
        return mt_codes_is_unread(finder, c) || c == 0x2044 || (c >= 0x2190 && c <= 0x21FF)
                   ? STRONG_OPERATOR
                   : WEAK_OPERATOR;
    return NO_OPERATOR;
}

/* Returns the kind of the operator that the whole item is. */
static enum operator_kind operator_of(const struct mt_codes_finder *finder,
                                      const struct mt_codes_item *item)
{
    size_t n;
    if (item->taken != MT_FREE)
        return NO_OPERATOR;
    enum operator_kind kind = operator_at(finder, item->begin, item->end, &n);
    return item->begin + n == item->end ? kind : NO_OPERATOR;
}

enum operand {
    NO_OPERAND,
    SHORT_NAME, /* one or two letters, or capitals: an operand where the other one is a number */
    OPERAND,
    NUMBER_OPERAND,
    EXPRESSION, /* itself has strong operators: x^2, a<b */
};

/* Returns where the letters and digits of one operand from text[at] on end; 0 where there are
 * none. */
static size_t operand_end(const struct mt_codes_finder *finder, size_t at, size_t end,
                          enum operand *kind)
{
    size_t begin = at, n_letters = 0, n_digits = 0, n_small = 0;
    bool has_mark = false, is_power = false;
    while (at < end && mt_codes_is_one_of(finder->text[at], "(-+!"))
        at++;
    size_t from = at;
    for (; at < end; at = mt_codes_next(finder, at)) {
        uint32_t c = mt_codes_at(finder, at);
        bool is_point = (c == '.' || c == ',') && at > from && mt_codes_digit_at(finder, at - 1) &&
                        mt_codes_digit_at(finder, at + 1);
        if (u_isdigit((UChar32)c))
            n_digits++;
        else if (mt_is_word_char(c))
            n_letters++;
        else if (c == '_' || c == '\'' || ((c == '(' || c == '[') && n_letters > 0) || c == ')' ||
                 c == ']')
            has_mark = true;
        else if (u_charType((UChar32)c) == U_OTHER_NUMBER)
            is_power = true;
        else if (c != '%' && c != 0xB0 && !is_point)
            break;
        n_small += c >= 'a' && c <= 'z';
    }
    bool is_number = n_digits > 0 && n_letters <= 3 && mt_codes_digit_at(finder, from);
    bool is_name = n_letters == 1 || ((n_digits > 0 || is_power) && n_letters <= 3) ||
                   (has_mark && n_letters < 12);
    bool is_verb = at - from == 2 && (memcmp(finder->text + from, "is", 2) == 0 ||
                                      memcmp(finder->text + from, "be", 2) == 0); /* is > 50 */
    *kind = is_number                                        ? NUMBER_OPERAND
            : is_name                                        ? OPERAND
            : is_verb                                        ? NO_OPERAND
            : n_letters == 2 || (n_letters == 3 && !n_small) ? SHORT_NAME
                                                             : NO_OPERAND;
    return n_letters + n_digits > 0 ? at : begin;
}

/* Returns the kind of an item without blanks. With weak operators alone it is text that models
 * know: 1-2, 24/7, and/or. */
static enum operand operand_of(const struct mt_codes_finder *finder,
                               const struct mt_codes_item *item)
{
    size_t at = item->core_begin, n_operators = 0;
    bool is_strong = false, is_short = true, has_number = false;
    enum operand kind = NO_OPERAND, last = NO_OPERAND;
    if (item->taken != MT_FREE)
        return NO_OPERAND;
    while (at < item->core_end) {
        size_t end = operand_end(finder, at, item->core_end, &kind), n;
        if (end == at)
            return NO_OPERAND;
        has_number = has_number || kind == NUMBER_OPERAND;
        is_short = is_short && kind != NO_OPERAND;
        last = kind;
        at = end;
        if (at == item->core_end)
            break;
        enum operator_kind operator= operator_at(finder, at, item->core_end, &n);
        if (operator== NO_OPERATOR)
            return NO_OPERAND;
        bool is_product = last == NUMBER_OPERAND && n == 1 &&
                          mt_codes_is_one_of(finder->text[at], "*+&") &&
                          mt_codes_digit_at(finder, at + n);
        is_strong = is_strong || operator>= STRONG_OPERATOR || is_product;
        n_operators++;
        at += n;
    }
    if (n_operators == 0)
        return last;
    return is_strong && (is_short || has_number) ? EXPRESSION : NO_OPERAND;
}

/* Whether words are on both sides of = or && without blanks, as in x==value or debug=true; there
 * may be several behind semicolons. */
static bool is_assignment(const struct mt_codes_finder *finder, const struct mt_codes_item *item)
{
    size_t at = item->core_begin, n_operators = 0;
    if (item->taken != MT_FREE)
        return false;
    while (at < item->core_end) {
        size_t from = at, n;
        while (at < item->core_end && (mt_codes_is_name_char(finder->text[at]) ||
                                       mt_codes_is_one_of(finder->text[at], "\"'") ||
                                       (at > from && mt_codes_is_one_of(finder->text[at], ".-[]"))))
            at++;
        if (at == from)
            return false;
        if (at == item->core_end)
            return n_operators > 0;
        if (n_operators > 0 && finder->text[at] == ';') {
            at++;
            continue;
        }
        enum operator_kind kind = operator_at(finder, at, item->core_end, &n);
        if (kind < STRONG_OPERATOR || finder->text[at] == '^')
            return false;
        n_operators++;
        at += n;
    }
    return false;
}

/* Returns where the item ends with the quotation mark that it opens, as in id="main"; 0: it leaves
 * one open. */
static size_t with_quote(const struct mt_codes_finder *finder, const struct mt_codes_item *item)
{
    size_t n = 0, end = item->core_end;
    end += end < item->end && mt_codes_is_one_of(finder->text[end], "\"'");
    for (size_t i = item->core_begin; i < end; i++)
        n += mt_codes_is_one_of(finder->text[i], "\"'");
    return n % 2 == 1 ? 0 : end;
}

/* Takes a comparison with nothing before it: "> 30", ">= 18". */
static size_t take_bound(struct mt_codes_finder *finder, size_t i)
{
    const struct mt_codes_item *item = &finder->items[i];
    size_t n;
    enum operator_kind kind = operator_at(finder, item->core_begin, item->core_end, &n);
    if (kind != COMPARISON)
        return 0;
    bool is_alone = item->core_begin + n == item->end;
    const struct mt_codes_item *number = is_alone && i + 1 < finder->n_items ? item + 1 : item;
    if (is_alone && (number == item || number->begin != item->end + 1 || number->taken != MT_FREE))
        return 0;
    size_t begin = is_alone ? number->begin : item->core_begin + n;
    begin += mt_codes_is_one_of(mt_codes_char(finder, begin), "-+$");
    size_t end = begin;
    while (end < number->core_end &&
           (mt_codes_digit_at(finder, end) || (end > begin && end + 1 < number->core_end &&
                                               mt_codes_is_one_of(finder->text[end], ".,"))))
        end++;
    if (end == begin || mt_codes_is_letter(mt_codes_at(finder, end)))
        return 0;
    while (end < number->core_end && !mt_codes_is_one_of(finder->text[end], "-/"))
        end = mt_codes_next(finder, end);
    return mt_codes_claim_amount(finder, item->core_begin, end) ? 1 + is_alone : 0;
}

static bool are_operands(enum operand left, enum operand right, enum operator_kind kind)
{
    if (left == NO_OPERAND || right == NO_OPERAND)
        return false;
    if (left == SHORT_NAME || right == SHORT_NAME)
        return kind >= STRONG_OPERATOR &&
               (left >= NUMBER_OPERAND || right >= NUMBER_OPERAND ||
                (left == OPERAND && kind == STRONG_OPERATOR)); /* F = ma */
    return true;
}

size_t mt_codes_take_expression(struct mt_codes_finder *finder, size_t i, size_t *none_before)
{
    const struct mt_codes_item *items = finder->items;
    enum operand left = operand_of(finder, &items[i]);
    bool is_strong = left == EXPRESSION;
    size_t last = i, n_known = is_strong ? 1 : 0;
    while (left != NO_OPERAND && last + 2 < finder->n_items && i >= *none_before) {
        const struct mt_codes_item *sign = &items[last + 1], *next = &items[last + 2];
        enum operator_kind kind = operator_of(finder, sign);
        enum operand right = operand_of(finder, next);
        if (kind == NO_OPERATOR || items[last].core_end != items[last].end ||
            sign->begin == items[last].end || next->core_begin != next->begin ||
            sign->end == next->begin || !are_operands(left, right, kind))
            break;
        bool is_sum =
            left == right &&
            ((left == NUMBER_OPERAND && mt_codes_is_one_of(finder->text[sign->begin], "+*")) ||
             (left == OPERAND && mt_codes_is_one_of(finder->text[sign->begin], "+*&/")));
        is_strong = is_strong || kind >= STRONG_OPERATOR || is_sum || right == EXPRESSION;
        left = right;
        last += 2;
        if (is_strong)
            n_known = last - i + 1;
    }
    if (!is_strong) {
        *none_before = last > *none_before ? last : *none_before;
        size_t end = is_assignment(finder, &items[i]) ? with_quote(finder, &items[i]) : 0;
        if (end > 0)
            return mt_codes_take(finder, MT_CODE_WORD, items[i].core_begin, end);
        return take_bound(finder, i);
    }
    size_t begin = items[i].core_begin, end = items[i + n_known - 1].core_end;
    bool begins_number = mt_codes_digit_at(finder, begin);
    return mt_codes_take(finder, begins_number ? MT_CODE_NUMBER : MT_CODE_WORD, begin, end)
               ? n_known
               : 0;
}
