/* The watcher: one process per host process that watches write roots for protected names. */
#ifndef CORDON_WATCHER_H
#define CORDON_WATCHER_H

int serve_watcher(void);

#endif
