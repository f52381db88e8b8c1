#pragma once

/* How a front calls this program when it starts the launcher of a cell. */
#define LAUNCHER_NAME "cordon-cell"

/* `cordon` itself: has the words carried out by the local host, or by Node. */
int run_front(int argc, char **argv);
