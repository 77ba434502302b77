import { Popover, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconArrowUpRight } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { PassageReference, Reference } from '@contract/chat.ts'
import { useFormat } from '../../../i18n/use-format.ts'
import { Dimmed } from '../../../ui/dimmed.tsx'
import styles from './chat.module.css'
import { ViewerLink } from './viewer-link.tsx'

/** Most passages that the popover shows; the list below the answer has all. */
const shownPassages = 3

/**
 * A marker in the text: opens the quotes that support its sentence. `occurrence`: which `[number]` of the text it is. `reference` is
 * undefined until the answer is complete.
 */
export function CitationChip({
  number,
  occurrence,
  reference,
}: {
  number: number
  occurrence: number | undefined
  reference: Reference | undefined
}) {
  const { t } = useTranslation('spaces')
  const [isOpen, popover] = useDisclosure(false)
  if (!reference) return <span className={styles['chip']}>{number}</span>
  return (
    <Popover
      opened={isOpen}
      onChange={popover.set}
      width={380}
      position="bottom-start"
      shadow="md"
      transitionProps={{ duration: 0 }}
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <button
          type="button"
          className={styles['chip']}
          onClick={popover.toggle}
          aria-label={t('chat.citation', { number, title: reference.title })}
        >
          {number}
        </button>
      </Popover.Target>
      <Popover.Dropdown className={styles['popover']}>
        <CitedPassages reference={reference} passages={passagesOf(reference, occurrence)} />
      </Popover.Dropdown>
    </Popover>
  )
}

/** The passages of one marker with its quotes; all of the document where the answer does not state them. */
function passagesOf({ passages = [] }: Reference, occurrence: number | undefined): PassageReference[] {
  const cited = passages.flatMap(({ markers = [], ...passage }) =>
    markers
      .filter((marker) => marker.occurrence === occurrence)
      .map(({ quote, page }) => ({ ...passage, quote, ...(page === undefined ? {} : { page }) })),
  )
  return cited.length === 0 ? passages : cited
}

function CitedPassages({
  reference: { title, documentId = '' },
  passages,
}: {
  reference: Reference
  passages: PassageReference[]
}) {
  const { t } = useTranslation('spaces')
  return (
    <Stack gap="xs">
      <Text fw={600} size="sm" className={styles['wrap']}>
        {title}
      </Text>
      {passages.slice(0, shownPassages).map((passage) => (
        <Passage key={passage.start} documentId={documentId} passage={passage} />
      ))}
      {passages.length > shownPassages && (
        <Dimmed size="xs">{t('chat.morePassages', { count: passages.length - shownPassages })}</Dimmed>
      )}
    </Stack>
  )
}

/** Where a passage is, its quote, and the link to it. */
export function Passage({ documentId, passage }: { documentId: string; passage: PassageReference }) {
  const { t } = useTranslation('spaces')
  const place = usePlace(passage)
  return (
    <div>
      <blockquote className={styles['quote']}>{passage.quote}</blockquote>
      <ViewerLink documentId={documentId} passage={passage} size="xs">
        {place === '' ? t('chat.openPassage') : place}
        <IconArrowUpRight size={12} aria-hidden />
      </ViewerLink>
    </div>
  )
}

function usePlace({ page, rows, heading }: PassageReference): string {
  const { t } = useTranslation('spaces')
  const format = useFormat()
  const parts = [
    page === undefined ? '' : t('chat.page', { page: format.number(page) }),
    rows === undefined ? '' : t('chat.rows', { from: format.number(rows.from), to: format.number(rows.to) }),
    heading ?? '',
  ]
  return parts.filter((part) => part !== '').join(' · ')
}
