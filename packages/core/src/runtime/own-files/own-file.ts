/** A file or folder that Cordon itself reads or writes. No policy can grant it. docs/own-files.md lists them all. */
export interface OwnFile {
  /** Absolute. */
  readonly path: string
  /** `withheld`: tools do not see it. `read-only`: tools may read it, and never change, replace or remove it. */
  readonly access: 'withheld' | 'read-only'
  /** For the refusal, such as "the value of the credential token". */
  readonly what: string
  /** What to do if a grant needs it. */
  readonly fix: string
  /**
   * Only names in this folder that begin so are Cordon's. If a tool may write there, the whole folder is withheld:
   * Cordon obeys names in it that do not exist yet.
   */
  readonly prefix?: string
  /**
   * Cordon runs from it. `object`: by its real path, also where nothing is yet. `link`: a symbolic link on the way to
   * one, which is put back if it changes. The cell looks for other names (hard links) of its files.
   */
  readonly program?: 'object' | 'link'
}

/** The beginning of the paths that an own file with a prefix covers. */
export const prefixedPath = (folder: string, prefix: string): string => `${folder === '/' ? '' : folder}/${prefix}`
