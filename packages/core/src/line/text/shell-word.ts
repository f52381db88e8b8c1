export { shellWord as asWord } from '../../platform/index.js'
