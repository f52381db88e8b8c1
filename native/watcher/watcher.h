/* The watcher: one process per host process that watches write roots for protected names. */
#pragma once

int serve_watcher(void);
