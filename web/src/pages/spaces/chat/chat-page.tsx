import { Alert, Button, Stack, Text } from '@mantine/core'
import { IconInfoCircle, IconMessagePlus } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { Page } from '../../../ui/page.tsx'
import {
  isComplete,
  RequiredFilterFields,
  type RequiredValues,
  toRequiredFilter,
} from '../../../ui/required-filter.tsx'
import { useSpace } from '../queries.ts'
import { chatRoute } from '../routes.tsx'
import { ModelName } from '../space-fields.tsx'
import styles from './chat.module.css'
import { Composer } from './composer.tsx'
import { type ChatOptions, type Turn, useConversation } from './conversation.ts'
import { TurnView } from './turn-view.tsx'
import { AnchorLink } from '../../../ui/link.tsx'

/** Tries a Space, published or not: the same call as published chat, with what it searched and what it cost. */
export function ChatPage() {
  const { t } = useTranslation('spaces')
  const { spaceId } = chatRoute.useParams()
  const space = useSpace(spaceId)
  const { turns, isRunning, ask, stop, clear } = useConversation(spaceId)
  const [options, setOptions] = useState<ChatOptions>({ inlineSources: true, agentic: false })
  const { requiredFilter } = space.settings
  const [values, setValues] = useState<RequiredValues>({})
  const newConversation = (
    <Button
      variant="default"
      leftSection={<IconMessagePlus size={16} aria-hidden />}
      onClick={clear}
      disabled={turns.length === 0}
    >
      {t('chat.new')}
    </Button>
  )
  return (
    <Page
      title={t('chat.title')}
      description={<ModelName model={space.model} available={space.modelAvailable} />}
      actions={newConversation}
    >
      <div className={styles['chat']}>
        <Notices />
        <Conversation turns={turns} onRepeat={(turn) => ask(turn.question, turn.options)} />
        <RequiredFilterFields
          fields={requiredFilter}
          values={values}
          onChange={setValues}
          hint={t('chat.filterHint')}
        />
        <Composer
          isReady={isComplete(requiredFilter, values)}
          isRunning={isRunning}
          options={options}
          onOptions={setOptions}
          onAsk={(question) => ask(question, { ...options, filter: toRequiredFilter(requiredFilter, values) })}
          onStop={stop}
        />
      </div>
    </Page>
  )
}

/** What keeps the Space from answering well. */
function Notices() {
  const { t } = useTranslation('spaces')
  const { organisationId, spaceId } = chatRoute.useParams()
  const { documents, modelAvailable } = useSpace(spaceId)
  const base = `/organisations/${organisationId}/spaces/${spaceId}`
  return (
    <>
      {!modelAvailable && (
        <Alert color="red" title={t('model.unavailable')}>
          <AnchorLink to={`${base}/settings` as '/'} inherit underline="always">
            {t('chat.toSettings')}
          </AnchorLink>
        </Alert>
      )}
      {documents.ready === 0 && (
        <Alert
          color="gray"
          icon={<IconInfoCircle size={18} aria-hidden />}
          title={documents.processing > 0 ? t('chat.processing') : t('chat.noDocuments')}
        >
          <Text size="sm">{t('chat.noDocumentsText')}</Text>
          <AnchorLink to={`${base}/files` as '/'} inherit underline="always">
            {t('chat.toFiles')}
          </AnchorLink>
        </Alert>
      )}
    </>
  )
}

function Conversation({ turns, onRepeat }: { turns: Turn[]; onRepeat: (turn: Turn) => void }) {
  const { t } = useTranslation('spaces')
  const end = useEndOfPage(turns)
  return (
    <div role="log" aria-label={t('chat.conversation')} className={styles['log']}>
      {turns.length === 0 ? (
        <EmptyState title={t('chat.empty')} text={t('chat.emptyText')} />
      ) : (
        <Stack gap="xl">
          {turns.map((turn, index) => (
            <TurnView
              key={turn.id}
              turn={turn}
              onRepeat={index === turns.length - 1 && turn.status === 'failed' ? () => onRepeat(turn) : undefined}
            />
          ))}
        </Stack>
      )}
      <div ref={end} />
    </div>
  )
}

/** Distance from the end of the page, in pixels, within which a growing answer keeps the end in view. */
const followDistance = 160

/** Shows a new question, and follows its answer while the person is at the end of the page. */
function useEndOfPage(turns: Turn[]) {
  const end = useRef<HTMLDivElement>(null)
  const count = useRef(turns.length)
  useEffect(() => {
    const { scrollHeight, scrollTop, clientHeight } = document.documentElement
    const isNew = turns.length > count.current
    count.current = turns.length
    if (isNew || scrollHeight - scrollTop - clientHeight < followDistance) end.current?.scrollIntoView({ block: 'end' })
  }, [turns])
  return end
}
