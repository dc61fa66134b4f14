/*
 * An engine that has answered before anybody asks: in a program that is linked with this, every
 * sentence has its translation from its creation on. It is the source itself, or the source with a
 * mark before and behind each word. What is lost, doubled or moved then is the server's doing.
 *
 * The model must have one vocabulary for both sides, as the bundled ones have.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_TESTS_FAKE_SENTENCES_H
#define MT_TESTS_FAKE_SENTENCES_H

enum fake_answer { FAKE_IDENTITY, FAKE_MARKING };

/* Of sentences that are created from now on. */
void fake_answer_with(enum fake_answer answer);

/* The marks: signs that the bundled vocabularies have, and that no text of a test may hold. */
#define FAKE_OPENING "\u00A3" /* pound */
#define FAKE_CLOSING "\u20AC" /* euro */

#endif
