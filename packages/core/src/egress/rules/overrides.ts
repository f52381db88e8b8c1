// Headers with which servers or proxies in front of them replace parts of a request. Names are as `looseName` writes
// them.

const METHOD_NAME =
  /^x?(?:http|rest|restful|tunnel|tunneled|original|forwarded|real|override|request|requested)?(?:method|verb)(?:override|overwrite|name)?$/

/**
 * Whether servers may read the method here, as a header or in a query, in any spelling: `X-HTTP-Method-Override`
 * (Google, ASP.NET), `X-HTTP-Method` (OData), `_method` (Rails, Symfony, Spring, Laravel), `_HttpMethod` (Salesforce),
 * `httpMethod`, `X-Tunneled-Method`.
 */
const namesMethod = (name: string): boolean => METHOD_NAME.test(name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))

/** A plain `method` or `verb` (Restlet) often means something else, unless its value is a method. */
const PLAIN = new Set(['method', 'verb'])
const METHODS = new Set([
  'GET',
  'HEAD',
  'OPTIONS',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'MERGE',
  'MOVE',
  'COPY',
  'MKCOL',
  'PROPPATCH',
  'LOCK',
  'UNLOCK',
])

export const mayBeMethod = (name: string, value: string): boolean =>
  namesMethod(name) && (!PLAIN.has(name.toLowerCase()) || METHODS.has(value.trim().toUpperCase()))

/** Servers may read the path here, or a second path: the source or target of a copy. */
export const PATH_OVERRIDES: ReadonlySet<string> = new Set([
  'x-original-url',
  'x-original-uri',
  'x-original-path',
  'x-envoy-original-path',
  'x-rewrite-url',
  'x-rewrite-uri',
  'x-override-url',
  'x-request-uri',
  'request-uri',
  'x-url',
  'x-uri',
  'x-forwarded-prefix',
  'x-forwarded-path',
  'x-forwarded-uri',
  'x-forwarded-url',
  'x-proxy-url',
  'x-http-destinationurl',
  'x-waws-unencoded-url',
  'x-script-name',
  'script-name',
  'x-path-info',
  'path-info',
  'destination',
  'x-amz-copy-source',
  'x-goog-copy-source',
  'x-ms-copy-source',
])

/** For proxies in front of a server. A tool is no proxy, and could name another host. */
export const HOST_OVERRIDES: ReadonlySet<string> = new Set([
  'forwarded',
  'x-forwarded-host',
  'x-forwarded-hostname',
  'x-forwarded-server',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-forwarded-protocol',
  'x-forwarded-scheme',
  'x-forwarded-ssl',
  'x-url-scheme',
  'front-end-https',
  'x-original-host',
  'x-original-forwarded-host',
  'x-host',
  'x-host-override',
  'x-http-host',
  'x-http-host-override',
  'http-host',
  'x-real-host',
  'x-backend-host',
  'x-proxy-host',
])
