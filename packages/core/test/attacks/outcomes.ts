// The report of an attack program, and the expectations of a test.
import { expect } from 'vitest'

export interface Route {
  readonly route: string
  readonly outcome: 'escaped' | 'refused'
  readonly detail: string
}

/** One JSON line per route; everything else that a program printed is not a route. */
export const parseRoutes = (text: string): readonly Route[] =>
  text.split('\n').flatMap((line) => {
    if (!line.startsWith('{"route"')) return []
    return [JSON.parse(line) as Route]
  })

/** Why a route is allowed to succeed, by its name. */
export type Exceptions = Readonly<Record<string, string>>

export const escapedFrom = (routes: readonly Route[], except: Exceptions = {}): readonly string[] =>
  routes
    .filter(({ route, outcome }) => outcome === 'escaped' && !(route in except))
    .map(({ route, detail }) => `${route}: ${detail}`)

/** Every route was tried and refused. */
export const expectRefused = (routes: readonly Route[], except: Exceptions = {}): void => {
  expect(routes.length, 'routes tried').toBeGreaterThan(0)
  expect(escapedFrom(routes, except), 'routes that escaped').toEqual([])
}

/** The errno or reason of one route, for claims about how it was refused. */
export const detailOf = (routes: readonly Route[], name: string): string => {
  const found = routes.find(({ route }) => route === name)
  expect(found, `the route ${name}`).toBeDefined()
  return found?.detail ?? ''
}
