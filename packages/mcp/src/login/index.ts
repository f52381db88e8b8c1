/// <reference types="node" preserve="true" />
export { accessToken, loginAdvice } from './access-token.js'
export type { LoginPlace } from './access-token.js'
export { plainScopes, parseServerUrl } from './discover.js'
export { beginLogin, logOut } from './login.js'
export type { PendingLogin } from './login.js'
export { findLogin, listLogins } from './login-files.js'
export type { KeptLogin } from './login-files.js'
