// Files of tests share processes, because starting one takes longer than most files. What they import from this folder
// is loaded anew for each file: it opens things for one file, and closes them after it. Cordon itself stays loaded.
import { vi } from 'vitest'

vi.resetModules()
