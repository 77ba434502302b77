import { Button, Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useTranslation } from 'react-i18next'
import type { Reference } from '@contract/chat.ts'
import { Dimmed } from '../../../ui/dimmed.tsx'
import { Passage } from './citation.tsx'
import styles from './chat.module.css'
import { ViewerLink } from './viewer-link.tsx'

/** Passages of one document that are shown at once. */
const firstPassages = 2

/** The documents of an answer with their passages. */
export function ReferencesList({ references }: { references: Reference[] }) {
  const { t } = useTranslation('spaces')
  if (references.length === 0) return <Dimmed>{t('chat.noReferences')}</Dimmed>
  return (
    <Stack gap="xs">
      <Text size="sm" fw={600}>
        {t('chat.references')}
      </Text>
      <ol className={styles['references']}>
        {references.map((reference) => (
          <ReferenceItem key={reference.id} reference={reference} />
        ))}
      </ol>
    </Stack>
  )
}

function ReferenceItem({ reference }: { reference: Reference }) {
  const { t } = useTranslation('spaces')
  const [isWhole, whole] = useDisclosure(false)
  const { id, title, documentId = '', url, passages = [] } = reference
  const rest = passages.length - firstPassages
  return (
    <li>
      <Group gap="xs" align="baseline" wrap="nowrap">
        <span className={styles['chip']}>{id}</span>
        <Stack gap={6} miw={0}>
          <Group gap="sm">
            <ViewerLink documentId={documentId} passage={passages[0]} size="sm" fw={500} className={styles['wrap']}>
              {title}
            </ViewerLink>
            {url !== undefined && (
              <a href={url} target="_blank" rel="noopener noreferrer" className={styles['external']}>
                {t('chat.originalPage')}
              </a>
            )}
          </Group>
          {passages.slice(0, isWhole ? undefined : firstPassages).map((passage) => (
            <Passage key={passage.start} documentId={documentId} passage={passage} />
          ))}
          {rest > 0 && (
            <Button variant="subtle" size="compact-xs" onClick={whole.toggle} aria-expanded={isWhole} w="fit-content">
              {isWhole ? t('chat.fewerPassages') : t('chat.morePassages', { count: rest })}
            </Button>
          )}
        </Stack>
      </Group>
    </li>
  )
}
