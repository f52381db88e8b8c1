// The packages around the core: which commands they bring, and where they are. They run outside of every cell, as the
// core does, so they are found beside this very program, and never from a working folder.
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { fail } from '../errors/index.js'
import type { CordonError } from '../errors/index.js'
import { PACKAGE_FOLDER, jsonOfFile, placesAround } from '../platform/index.js'
import { STDERR, oneLine, writeText } from '../line/text/console-text.js'
import { version } from '../line/text/version.js'

import type { Product } from './product.js'

interface KnownProduct {
  readonly name: string
  /** Its commands, with what `cordon --help` says about them. */
  readonly commands: Readonly<Record<string, string>>
}

export const PRODUCTS = {
  mcp: { name: '@cordon/mcp', commands: { mcp: 'run MCP servers in sandboxes, behind one gateway' } },
  manifest: {
    name: '@cordon/manifest',
    commands: { manifest: 'write, compare and show what the tools of a project may do' },
  },
  team: {
    name: '@cordon/team',
    commands: {
      team: "manage a team's registry: members, tools, calls, runs, tokens, credentials",
      serve: "serve a team's registry to other processes",
      runner: 'run approved calls of a team on this host',
    },
  },
} as const satisfies Readonly<Record<string, KnownProduct>>

export type ProductName = keyof typeof PRODUCTS

/** The product that brings a command. */
export const productOf = (command: string): ProductName | undefined =>
  (Object.keys(PRODUCTS) as ProductName[]).find((each) => Object.hasOwn(PRODUCTS[each].commands, command))

interface Manifest {
  readonly name?: string
  readonly version?: string
  readonly exports?: Readonly<Record<string, { readonly default?: string }>>
}

const manifestAt = (folder: string): Manifest | undefined =>
  jsonOfFile(join(folder, 'package.json')) as Manifest | undefined

interface InstalledProduct {
  readonly manifest: Manifest
  /** The real one. */
  readonly folder: string
}

const find = (product: ProductName): InstalledProduct | undefined => {
  const { name } = PRODUCTS[product]
  const place = placesAround(PACKAGE_FOLDER).get(name)
  const manifest = place === undefined ? undefined : manifestAt(place)
  return place === undefined || manifest?.name !== name ? undefined : { manifest, folder: realpathSync(place) }
}

/** The real folder of an installed product. Undefined if there is none. */
export const folderOfProduct = (product: ProductName): string | undefined => find(product)?.folder

export const installedProductNames = (): readonly ProductName[] =>
  (Object.keys(PRODUCTS) as ProductName[]).filter((product) => folderOfProduct(product) !== undefined)

/** The real folders of all installed products. */
export const installedProducts = (): readonly string[] =>
  installedProductNames().flatMap((product) => folderOfProduct(product) ?? [])

/** Undefined if it has the version of the core. */
const wrongVersion = (product: ProductName, { manifest }: InstalledProduct): CordonError | undefined => {
  const { name } = PRODUCTS[product]
  const found = manifest.version ?? 'unknown'
  return found === version() ? undefined : fail('product-version', { name, version: found, own: version() })
}

const load = async ({ manifest, folder }: InstalledProduct): Promise<Product> => {
  const entry = manifest.exports?.['./commands']?.default ?? ''
  const { PRODUCT } = (await import(pathToFileURL(join(folder, entry)).href)) as { readonly PRODUCT: Product }
  return PRODUCT
}

/** For a command that needs it: throws the line that installs it. */
export const loadProduct = async (product: ProductName, what: string): Promise<Product> => {
  const installed = find(product)
  if (installed === undefined) throw fail('product-missing', { what, name: PRODUCTS[product].name, version: version() })
  const wrong = wrongVersion(product, installed)
  if (wrong !== undefined) throw wrong
  return load(installed)
}

/** For a command that works without it. One of another version is left out, and stderr says so. */
export const loadProductIfAny = async (product: ProductName): Promise<Product | undefined> => {
  const installed = find(product)
  if (installed === undefined) return undefined
  const wrong = wrongVersion(product, installed)
  if (wrong === undefined) return load(installed)
  writeText(STDERR, `${oneLine(`cordon: left out: ${wrong.message}; fix: ${wrong.fix ?? ''}`)}\n`)
  return undefined
}
