// Findings about tags. A tag hides ways for data, so a new one is shown like a grant.
import type { Change, Finding, Manifest } from 'cordon/manifest'
import { makeFinding, say, words } from 'cordon/manifest'

const TAGS = ['public', 'trusted', 'own'] as const

export const tagFindings = ({ before, after }: Change<Manifest['tags']>): readonly Finding[] =>
  TAGS.flatMap((tag) => [
    ...after[tag]
      .filter((text) => !isException(text) && !before[tag].includes(text))
      .map((text) =>
        makeFinding('tag.added', {}, { sentence: say`${text} is now tagged ${words(tag)}`, change: [tag, text] }),
      ),
    ...before[tag]
      .filter((text) => isException(text) && !after[tag].includes(text))
      .map((text) =>
        makeFinding(
          'tag.added',
          {},
          { sentence: say`${text} is no longer an exception of the tag ${words(tag)}`, change: [tag, text, 'gone'] },
        ),
      ),
  ])

const isException = (text: string): boolean => text.startsWith('!')
