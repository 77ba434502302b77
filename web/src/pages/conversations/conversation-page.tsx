import { Button, Center, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient, useSuspenseInfiniteQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { deleteJson } from '../../api/client.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { openConfirm } from '../../ui/confirm.tsx'
import { AnchorLink } from '../../ui/link.tsx'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { Page } from '../../ui/page.tsx'
import { conversationQuery, conversationRoute, conversationsKey, conversationsPath } from './routes.tsx'
import { StoredTurn } from './stored-turn.tsx'

/** One conversation with its turns. */
export function ConversationPage() {
  const { t } = useTranslation('conversations')
  const format = useFormat()
  const { organisationId, spaceId, conversationId } = conversationRoute.useParams()
  const query = useSuspenseInfiniteQuery(conversationQuery(spaceId, conversationId))
  const { conversation } = query.data.pages[0]!
  const turns = query.data.pages.flatMap((page) => page.turns)
  const facts = [
    format.dateTime(conversation.startedAt),
    t('stored.turns', { count: conversation.turns, shown: format.number(conversation.turns) }),
    format.money(conversation.billedUsd),
    conversation.user === null ? t('anonymous') : t('userIs', { user: conversation.user }),
  ]
  return (
    <Page
      title={t('conversation')}
      description={facts.join(' · ')}
      actions={<Actions spaceId={spaceId} conversationId={conversationId} organisationId={organisationId} />}
    >
      <Stack gap="xl" maw={860} w="100%">
        <AnchorLink
          to="/organisations/$organisationId/spaces/$spaceId/conversations"
          params={{ organisationId, spaceId }}
          size="sm"
          w="fit-content"
        >
          {t('toList')}
        </AnchorLink>
        {turns.map((turn, index) => (
          <StoredTurn key={turn.number} spaceId={spaceId} turn={turn} before={turns.slice(0, index)} />
        ))}
        {turns.length === 0 && <Text c="dimmed">{t('noTurns')}</Text>}
        {query.hasNextPage && (
          <Center>
            <Button variant="default" onClick={() => void query.fetchNextPage()} loading={query.isFetchingNextPage}>
              {t('moreTurns')}
            </Button>
          </Center>
        )}
      </Stack>
    </Page>
  )
}

function Actions(props: { organisationId: string; spaceId: string; conversationId: string }) {
  const { organisationId, spaceId, conversationId } = props
  const { t } = useTranslation('conversations')
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const path = conversationsPath(spaceId)
  const remove = useMutation({
    mutationFn: () => deleteJson<{ turns: number }>(`${path}/${conversationId}`),
    onSuccess: async ({ turns }) => {
      notifySuccess(t('erase.done', { count: turns }))
      queryClient.removeQueries({ queryKey: conversationsKey(spaceId) })
      await navigate({
        to: '/organisations/$organisationId/spaces/$spaceId/conversations',
        params: { organisationId, spaceId },
      })
      queryClient.removeQueries({ queryKey: conversationQuery(spaceId, conversationId).queryKey })
    },
    onError: notifyError,
  })
  return (
    <Group gap="xs">
      <Button component="a" href={`${path}/export?conversationId=${conversationId}`} download variant="default">
        {t('export.title')}
      </Button>
      <Button
        variant="default"
        loading={remove.isPending}
        onClick={() =>
          openConfirm({
            title: t('erase.question'),
            text: t('erase.oneText'),
            confirm: t('erase.confirm'),
            onConfirm: () => remove.mutate(),
          })
        }
      >
        {t('erase.title')}
      </Button>
    </Group>
  )
}
