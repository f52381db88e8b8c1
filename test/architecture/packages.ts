// The packages of this repository, as their package.json describes them to others.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

export interface PackageFacts {
  /** Its folder in packages/. */
  readonly folder: string
  readonly name: string
  /** Packages that it may count on: its own dependencies, of any kind that its users get. */
  readonly dependencies: readonly string[]
  /** What others import, such as `cordon/policy`, with its source. Files that are not modules have none. */
  readonly entries: ReadonlyMap<string, string | undefined>
}

interface Described {
  readonly name: string
  readonly exports?: Readonly<Record<string, string | { readonly unbundled: string }>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

export const readPackages = (root: string): readonly PackageFacts[] =>
  readdirSync(join(root, 'packages')).map((folder) => {
    const described = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8')) as Described
    const { name, exports = {}, dependencies, devDependencies, optionalDependencies, peerDependencies } = described
    return {
      folder,
      name,
      // The core bundles the packages that it is developed with.
      dependencies: Object.keys({
        ...dependencies,
        ...devDependencies,
        ...optionalDependencies,
        ...peerDependencies,
      }),
      entries: new Map(
        Object.entries(exports).map(([key, target]) => [
          `${name}${key.slice(1)}`,
          typeof target === 'string'
            ? undefined
            : target.unbundled.replace(/^\.\/dist\/(.*)\.js$/, `packages/${folder}/src/$1.ts`),
        ]),
      ),
    }
  })

/** `@cordon/mcp` of `@cordon/mcp/commands`, `cordon` of `cordon/policy`. */
export const packageNameOf = (specifier: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier

/** `cordon/schemas/*.json` covers `cordon/schemas/permission.json`. */
export const isEntry = ({ entries }: PackageFacts, specifier: string): boolean =>
  [...entries.keys()].some((key) => {
    const [before = '', after] = key.split('*')
    return after === undefined ? key === specifier : specifier.startsWith(before) && specifier.endsWith(after)
  })
