/// <reference types="node" preserve="true" />
export { isAnswered } from './listen-socket.js'
export { parseListenAddress } from 'cordon/runtime'
export type { ListenAddress } from 'cordon/runtime'
export { CONNECTIONS, MOST_ANSWER_BYTES, STATEMENT_MS, serveStore } from './serve-store.js'
export type { ServeSettings, ServedStore } from './serve-store.js'
