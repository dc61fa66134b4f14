/*
 * Writes a packed form into the cache, in a thread of its own, while the model already uses the
 * same bytes in memory. Nobody waits for the disk: the model and the thread share the image, and
 * the last one that needs it destroys it.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef MT_MODEL_FILES_PACK_WRITER_H
#define MT_MODEL_FILES_PACK_WRITER_H

#include "base/status.h"

struct mt_image;
struct mt_pack_writer;

/* Takes over the image if it starts, but the caller may read it until it lets go. on_failure is
 * called by the writer's thread if the file could not be written; it may be NULL. MT_IO: no thread
 * could be started; MT_MEMORY. */
MT_MUST_CHECK enum mt_status mt_pack_writer_start(struct mt_image *image, const char *path,
                                                  void (*on_failure)(const struct mt_error *err),
                                                  struct mt_pack_writer **out,
                                                  struct mt_error *err);

/* Cancels the writing, if it is not complete, and does not wait for that. */
void mt_pack_writer_let_go(struct mt_pack_writer *writer);

#endif
