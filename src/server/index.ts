/// <reference types="node" preserve="true" />
export { isAnswered } from './listen-socket.js'
export { parseListenAddress } from './door/index.js'
export type { ListenAddress } from './door/index.js'
export { CONNECTIONS, MOST_ANSWER_BYTES, STATEMENT_MS, serveStore } from './serve-store.js'
export type { ServeSettings, ServedStore } from './serve-store.js'
