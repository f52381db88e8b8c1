#pragma once

/* Accepts the clients of this build, checks them, and hands them to the host, which is Node. */
int serve_door(const char *build);
