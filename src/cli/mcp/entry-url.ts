/** The address of a remote server, in an entry of `mcpServers`. Clients write it under different keys. */
export const urlOfEntry = (entry: Readonly<Record<string, unknown>>): unknown =>
  entry['url'] ?? entry['httpUrl'] ?? entry['serverUrl']
