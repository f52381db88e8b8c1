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
export { placeInFile } from './place-in-file.js'
export { defined, hash, record, recordFile, time } from './record.js'
export { withoutUndefined } from './without-undefined.js'
