// Headers by which servers, or what stands in front of them, take a request for another one than it is.
// Names are as `looseName` writes them.

/** The method is taken from here. */
export const METHOD_OVERRIDES: ReadonlySet<string> = new Set(['x-http-method-override', 'x-http-method', 'x-method-override', 'x-method', 'http-method-override', 'x-original-method', 'x-forwarded-method', 'x-http-method-name'])

/** The same in a query, as frameworks for forms have it; some take the names of the headers there, too. */
export const METHOD_PARAMETERS: ReadonlySet<string> = new Set(['-method', ...METHOD_OVERRIDES])

/** The path is taken from here, or a second one is named: where to copy to, or from. */
export const PATH_OVERRIDES: ReadonlySet<string> = new Set([
  'x-original-url', 'x-original-uri', 'x-original-path', 'x-envoy-original-path', 'x-rewrite-url', 'x-rewrite-uri', 'x-override-url', 'x-request-uri', 'request-uri', 'x-url', 'x-uri',
  'x-forwarded-prefix', 'x-forwarded-path', 'x-forwarded-uri', 'x-forwarded-url', 'x-proxy-url', 'x-http-destinationurl', 'x-waws-unencoded-url',
  'x-script-name', 'script-name', 'x-path-info', 'path-info',
  'destination', 'x-amz-copy-source', 'x-goog-copy-source', 'x-ms-copy-source',
])

/** A proxy in front of a server tells here what was asked of it. A tool is no proxy, and would name another host. */
export const HOST_OVERRIDES: ReadonlySet<string> = new Set([
  'forwarded', 'x-forwarded-host', 'x-forwarded-hostname', 'x-forwarded-server', 'x-forwarded-port', 'x-forwarded-proto', 'x-forwarded-protocol', 'x-forwarded-scheme', 'x-forwarded-ssl', 'x-url-scheme', 'front-end-https',
  'x-original-host', 'x-original-forwarded-host', 'x-host', 'x-host-override', 'x-http-host', 'x-http-host-override', 'http-host', 'x-real-host', 'x-backend-host', 'x-proxy-host',
])
