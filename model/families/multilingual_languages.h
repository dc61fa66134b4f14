/*
 * The languages of the models of multilingual.h, in the order of their tokens' ids: codes with a
 * blank between them.
 */
#ifndef MT_MODEL_FAMILIES_MULTILINGUAL_LANGUAGES_H
#define MT_MODEL_FAMILIES_MULTILINGUAL_LANGUAGES_H

extern const char mt_m2m100_languages[], mt_wmt21_languages[], mt_nllb_languages[],
    mt_mbart50_languages[];

#endif
