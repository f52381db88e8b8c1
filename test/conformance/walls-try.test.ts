import { AREAS } from './cases.js'
import { describeConformance } from './describe-conformance.js'
import { walledCandidate } from './walls.js'

describeConformance(await walledCandidate((process.env['WALL'] ?? 'bubblewrap') as never, {}), AREAS)
