import { Alert, Button, Stack, Text } from '@mantine/core'
import { IconInfoCircle, IconMessagePlus } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRights } from '../../../app/session.ts'
import { Dimmed } from '../../../ui/dimmed.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { AnchorLink } from '../../../ui/link.tsx'
import { LoadingState } from '../../../ui/loading-state.tsx'
import { notifyWarning } from '../../../ui/notify.ts'
import { Page } from '../../../ui/page.tsx'
import {
  isComplete,
  RequiredFilterFields,
  type RequiredValues,
  toRequiredFilter,
} from '../../../ui/required-filter.tsx'
import { ChatHistory } from '../../own-chats/chat-history.tsx'
import { useSpace } from '../queries.ts'
import { chatRoute } from '../routes.tsx'
import { ModelName } from '../space-fields.tsx'
import { AnswerPlace, answerPlaceOf } from './answer-place.ts'
import styles from './chat.module.css'
import { Composer } from './composer.tsx'
import { ask, useConversation } from './conversation.ts'
import type { ChatOptions, Turn } from './turn.ts'
import { TurnView } from './turn-view.tsx'
import { useShownPlace } from './use-shown-place.ts'

/** Asks a Space, published or not: the same call as published chat, with what it searched and what it cost. */
export function ChatPage() {
  const { t } = useTranslation('spaces')
  const { spaceId } = chatRoute.useParams()
  const space = useSpace(spaceId)
  const { chatId, open, conversation, startNew } = useChosenConversation(spaceId, space.settings.keepConversations)
  const { turns, isRunning, stop } = conversation
  const queryClient = useQueryClient()
  const [options, setOptions] = useState<ChatOptions>({ inlineSources: true, agentic: false })
  const { requiredFilter, keepConversations } = space.settings
  const [values, setValues] = useState<RequiredValues>({})
  const send = (question: string, given: ChatOptions) => {
    const id = keepConversations ? (chatId ?? crypto.randomUUID()) : undefined
    void ask(queryClient, { spaceId, chatId: id }, question, given)
    if (id !== chatId) open(id)
  }
  const newConversation = (
    <Button
      variant="default"
      leftSection={<IconMessagePlus size={16} aria-hidden />}
      onClick={startNew}
      disabled={turns?.length === 0}
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
      <div className={keepConversations ? styles['withHistory'] : undefined}>
        {keepConversations && (
          <ChatHistory
            chatId={chatId}
            onRemoved={(removed) => {
              if (chatId !== undefined && (removed ?? chatId) === chatId) startNew(true)
            }}
          />
        )}
        <div className={styles['chat']}>
          <Notices />
          <Conversation chatId={chatId} turns={turns} onRepeat={(turn) => send(turn.question, turn.options)} />
          <RequiredFilterFields
            fields={requiredFilter}
            values={values}
            onChange={setValues}
            hint={t('chat.filterHint')}
          />
          <Composer
            isReady={isComplete(requiredFilter, values) && turns !== undefined}
            isRunning={isRunning}
            options={options}
            onOptions={setOptions}
            onAsk={(question) => send(question, { ...options, filter: toRequiredFilter(requiredFilter, values) })}
            onStop={stop}
          />
        </div>
      </div>
    </Page>
  )
}

/** The conversation of the address; without one, or where the Space keeps none, a new one. */
function useChosenConversation(spaceId: string, isKept: boolean) {
  const { t } = useTranslation('spaces')
  const { conversation: given } = chatRoute.useSearch()
  const chatId = isKept ? given : undefined
  const navigate = useNavigate()
  const conversation = useConversation({ spaceId, chatId })
  const isMissing = conversation.turns === null
  const open = (id: string | undefined, replace = true) =>
    void navigate({ to: '.', search: (id === undefined ? {} : { conversation: id }) as never, replace })
  useEffect(() => {
    if (!isMissing) return
    notifyWarning(t('chat.missing'))
    void navigate({ to: '.', search: {} as never, replace: true })
  }, [isMissing, navigate, t])
  return {
    chatId,
    conversation,
    open,
    /** `isRemoved`: the former one was deleted. */
    startNew: (isRemoved: unknown) => {
      if (chatId === undefined || isRemoved === true) conversation.clear()
      if (chatId !== undefined) open(undefined, isRemoved === true)
    },
  }
}

/** What keeps the Space from answering well, and whether the conversation is stored. */
function Notices() {
  const { t } = useTranslation('spaces')
  const { organisationId, spaceId } = chatRoute.useParams()
  const { documents, modelAvailable, settings } = useSpace(spaceId)
  const base = `/organisations/${organisationId}/spaces/${spaceId}`
  return (
    <>
      {!settings.keepConversations && <NotKept settings={`${base}/settings`} />}
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

function NotKept({ settings }: { settings: string }) {
  const { t } = useTranslation('spaces')
  const { organisationId } = chatRoute.useParams()
  const { isAdministrator } = useRights(organisationId)
  return (
    <Dimmed>
      {t('chat.notKept')}{' '}
      {isAdministrator && (
        <AnchorLink to={settings as '/'} inherit underline="always">
          {t('chat.turnOn')}
        </AnchorLink>
      )}
    </Dimmed>
  )
}

interface ConversationProps {
  chatId: string | undefined
  /** Undefined and null: not loaded, or missing. */
  turns: Turn[] | null | undefined
  onRepeat: (turn: Turn) => void
}

const noTurns: Turn[] = []

function Conversation({ chatId, turns: loaded, onRepeat }: ConversationProps) {
  const { t } = useTranslation('spaces')
  const turns = loaded ?? noTurns
  const end = useShownPlace(chatId, turns)
  return (
    <div role="log" aria-label={t('chat.conversation')} className={styles['log']}>
      {!loaded ? (
        <LoadingState />
      ) : turns.length === 0 ? (
        <EmptyState title={t('chat.empty')} text={t('chat.emptyText')} />
      ) : (
        <Stack gap="xl">
          {turns.map((turn, index) => (
            <AnswerPlace key={turn.id} value={answerPlaceOf(chatId, index)}>
              <TurnView
                turn={turn}
                onRepeat={index === turns.length - 1 && turn.status === 'failed' ? () => onRepeat(turn) : undefined}
              />
            </AnswerPlace>
          ))}
        </Stack>
      )}
      <div ref={end} />
    </div>
  )
}
