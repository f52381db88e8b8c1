#pragma once

#include "wire/system.h"

int serve_watcher(void);
