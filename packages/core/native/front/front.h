#pragma once

/* `cordon` itself: has the words carried out by the local host, or by Node. */
int run_front(int argc, char **argv);
