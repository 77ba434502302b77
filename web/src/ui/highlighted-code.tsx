import { useDebouncedValue, useInViewport } from '@mantine/hooks'
import { Suspense, useState } from 'react'
import { lazyPart } from './lazy-part.tsx'

const ColouredCode = lazyPart(() => import('./coloured-code.tsx'), 'ColouredCode')

/** Longer code is shown without colours: reading it takes time in the reader's browser. */
const maximumCharacters = 20_000
/** Code that an answer is still writing gets its colours when it has been the same for so long. */
const unchangedMs = 300

/**
 * Code with the colours of its language; plain until they are loaded, and in a language that is not known. They load when the code comes into
 * view: on some pages it is far below.
 */
export function HighlightedCode({ code, language }: { code: string; language: string | null | undefined }) {
  const [unchanged] = useDebouncedValue(code, unchangedMs)
  const { ref, inViewport } = useInViewport()
  const [wasSeen, setSeen] = useState(false)
  if (inViewport && !wasSeen) setSeen(true)
  if (!language || code.length > maximumCharacters) return code
  return (
    <span ref={ref}>
      {wasSeen && unchanged === code ? (
        <Suspense fallback={code}>
          <ColouredCode code={code} language={language} />
        </Suspense>
      ) : (
        code
      )}
    </span>
  )
}
