/*
 * Writes a packed form into the cache, in a thread of its own, while the model already answers from
 * the same bytes in memory. Nobody ever waits for the disk: whoever is the last to need the image,
 * the model or the thread, destroys it.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_MODEL_FILES_PACK_WRITER_H
#define MT_MODEL_FILES_PACK_WRITER_H

#include "base/status.h"

struct mt_image;
struct mt_pack_writer;

/* Takes the image, where it starts, but the caller may read it until it lets go. on_failure is
 * called from the writer's thread, where the file could not be written; NULL: nobody wants to know.
 * MT_IO: no thread; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_pack_writer_start(struct mt_image *image, const char *path,
                                                  void (*on_failure)(const struct mt_error *err),
                                                  struct mt_pack_writer **out,
                                                  struct mt_error *err);

/* Gives up writing, if it is not too late, and does not wait for that. */
void mt_pack_writer_let_go(struct mt_pack_writer *writer);

#endif
