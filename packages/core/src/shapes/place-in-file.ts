import type { Place } from './shape.js'

/** For a file that Cordon itself writes. Its errors name the place. */
export const placeInFile = (where: string): Place => {
  const told: Place['told'] = (found, expected) => new Error(`${where} is ${found}, and not ${expected}`)
  const place: Place = {
    at: (key) => placeInFile(`${where}: ${String(key)}`),
    entry: (name) => placeInFile(`${where}: ${JSON.stringify(name)}`),
    hidden: () => place,
    told,
    wrong: (value, expected) => told(typeof value, expected),
    notOneOf: (_value, known) => told('another word', `one of ${known.join(', ')}`),
    unknown: (key) => new Error(`${where} has the unknown field ${JSON.stringify(key)}`),
  }
  return place
}
