export { findServerPrograms, startServer } from '../../../../scripts/postgres-server.mjs'
export type { Server } from '../../../../scripts/postgres-server.mjs'
