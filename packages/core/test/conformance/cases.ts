// Everything that users rely on, claim by claim, for any backend.
import { cancelling } from './cases/cancelling.js'
import { carveOuts } from './cases/carve-outs.js'
import { closing } from './cases/closing.js'
import { endings } from './cases/endings.js'
import { environment } from './cases/environment.js'
import { everydayPrograms } from './cases/everyday-programs.js'
import { execution } from './cases/execution.js'
import { grants } from './cases/grants.js'
import { limits } from './cases/limits.js'
import { links } from './cases/links.js'
import { manyCalls } from './cases/many-calls.js'
import { names } from './cases/names.js'
import { network } from './cases/network.js'
import { patterns } from './cases/patterns.js'
import { protectedNames } from './cases/protected-names.js'
import { records } from './cases/records.js'
import { scratch } from './cases/scratch.js'
import { streams } from './cases/streams.js'
import { warmCells } from './cases/warm-cells.js'
import { workingDirectory } from './cases/working-directory.js'
import type { Area } from './claim.js'

export const AREAS: readonly Area[] = [
  endings,
  streams,
  environment,
  workingDirectory,
  grants,
  patterns,
  names,
  links,
  carveOuts,
  protectedNames,
  scratch,
  execution,
  everydayPrograms,
  network,
  limits,
  cancelling,
  manyCalls,
  warmCells,
  closing,
  records,
]
