export { monotonicMs } from './clock.js'
export { MOST_REQUESTS_OF_CALL } from './most-requests.js'
export {
  amount,
  anything,
  called,
  count,
  described,
  either,
  fields,
  filled,
  isAmount,
  isMapping,
  isTexts,
  list,
  mapping,
  matching,
  number,
  oneOf,
  optional,
  orNull,
  readParts,
  such,
  text,
  valuesOf,
  whole,
  yesOrNo,
} from './shape.js'
export type { Place, Read, Schema, Shape, Shaped, Shapes } from './shape.js'
export { defined, hash, placeInFile, record, recordFile, time, withoutUndefined } from './record.js'
