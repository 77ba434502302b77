import { Collapse, Group, Loader, Text, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import {
  IconCalculator,
  IconCalendar,
  IconChevronDown,
  IconChevronRight,
  IconDatabaseSearch,
  IconFileSearch,
  IconFileText,
  IconList,
  IconQuestionMark,
  IconSearch,
  IconTable,
} from '@tabler/icons-react'
import { useId } from 'react'
import { useTranslation } from 'react-i18next'
import type { PreviewSource } from '@contract/chat.ts'
import { useFormat } from '../../../i18n/use-format.ts'
import { Dimmed } from '../../../ui/dimmed.tsx'
import styles from './chat.module.css'
import { isRunning, type Turn } from './turn.ts'
import { ViewerLink } from './viewer-link.tsx'

const icons = {
  UPLOADED_FILES: IconSearch,
  DOCUMENT_LIST: IconList,
  DOCUMENT: IconFileText,
  DOCUMENT_FIND: IconFileSearch,
  TABLES: IconTable,
  TABLE_QUERY: IconDatabaseSearch,
  CALCULATOR: IconCalculator,
  CURRENT_DATE: IconCalendar,
  UNKNOWN_TOOL: IconQuestionMark,
}

const toolOf = (source: string): keyof typeof icons =>
  Object.hasOwn(icons, source) ? (source as keyof typeof icons) : 'UNKNOWN_TOOL'
const isSearch = ({ source }: PreviewSource) => toolOf(source) === 'UPLOADED_FILES'

/** What the answer did before and while it was written: each search and use of a tool, with its query, documents and time. */
export function SourceTimeline({ turn }: { turn: Turn }) {
  const { t } = useTranslation('spaces')
  const format = useFormat()
  const [isOpen, list] = useDisclosure(false)
  const id = useId()
  const { sources, status } = turn
  if (sources.length === 0) {
    if (turn.isElsewhere) return <Elsewhere />
    return status === 'waiting' ? <Step text={t('timeline.searching')} /> : null
  }
  const searches = sources.filter((source) => isSearch(source) && source.query !== null).length
  const tools = sources.filter((source) => !isSearch(source)).length
  const passages = sources.reduce((sum, { count }) => sum + count, 0)
  const milliseconds = sources.reduce((sum, source) => sum + source.milliseconds, 0)
  const summary = [
    ...(searches > 0 ? [t('timeline.searches', { count: searches })] : []),
    ...(tools > 0 ? [t('timeline.tools', { count: tools })] : []),
    t('timeline.passages', { count: passages }),
    format.duration(milliseconds),
  ]
  return (
    <div>
      <UnstyledButton onClick={list.toggle} aria-expanded={isOpen} aria-controls={id} fz="sm" c="dimmed">
        <Group gap={6} wrap="nowrap">
          {isOpen ? <IconChevronDown size={14} aria-hidden /> : <IconChevronRight size={14} aria-hidden />}
          {summary.join(' · ')}
        </Group>
      </UnstyledButton>
      <Collapse expanded={isOpen} id={id}>
        <ol className={styles['timeline']}>
          {sources.map((source, index) => (
            <SourceStep key={index} source={source} />
          ))}
        </ol>
      </Collapse>
      {isRunning(turn) && turn.text === '' && <Step text={t('timeline.writing')} />}
    </div>
  )
}

function Elsewhere() {
  const { t } = useTranslation('spaces')
  return <Step text={t('chat.elsewhere')} />
}

function Step({ text }: { text: string }) {
  return (
    <Group gap="xs" mt={4}>
      <Loader size={14} />
      <Dimmed>{text}</Dimmed>
    </Group>
  )
}

function SourceStep({ source }: { source: PreviewSource }) {
  const { t } = useTranslation('spaces')
  const format = useFormat()
  const { query, count, status, milliseconds, documents } = source
  const tool = toolOf(source.source)
  const Icon = icons[tool]
  const facts = [
    isSearch(source) ? '' : t(`timeline.source.${tool}`),
    status === 'FAILED' ? t('timeline.failed') : '',
    count === 0 && !isSearch(source) ? '' : t('timeline.passages', { count }),
    format.duration(milliseconds),
  ]
  const unasked = status === 'FAILED' ? 'invalidCall' : 'wholeFiles'
  return (
    <li>
      <Group gap={6} wrap="nowrap" align="baseline">
        <Icon size={14} className={styles['stepIcon']} aria-hidden />
        <Text size="sm" className={styles['wrap']}>
          {query === null ? t(`timeline.${unasked}`) : `“${query}”`}
        </Text>
      </Group>
      <Dimmed size="xs" ml={20}>
        {facts.filter((fact) => fact !== '').join(' · ')}
      </Dimmed>
      <ul className={styles['stepDocuments']}>
        {documents.map(({ id, title }) => (
          <li key={id}>
            <IconFileText size={14} className={styles['stepIcon']} aria-hidden />
            <ViewerLink documentId={id} size="xs" className={styles['wrap']}>
              {title}
            </ViewerLink>
          </li>
        ))}
      </ul>
    </li>
  )
}
