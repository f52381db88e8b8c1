#pragma once

/* Becomes a program that outlives its caller, and has none of its limits. Returns only if it cannot. */
int run_alone(char **words);
