import { Badge, Button, Group, Stack, Table, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { SessionsBody } from '@contract/people.ts'
import { deleteJson } from '../../api/client.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import { useChange } from '../../ui/use-change.ts'
import { describeBrowser } from './describe-browser.ts'
import { sessionsQuery } from './routes.tsx'

type Session = SessionsBody['items'][number]

/** Where the person is signed in. */
export function SessionsSection() {
  const { t } = useTranslation('accounts')
  const { data } = useSuspenseQuery(sessionsQuery)
  return (
    <Section title={t('sessions.title')} description={t('sessions.text')}>
      {data.items.length === 0 ? (
        <Text size="sm">{t('sessions.none')}</Text>
      ) : (
        <Table aria-label={t('sessions.title')} verticalSpacing="xs">
          <Table.Tbody>
            {data.items.map((session) => (
              <SessionRow key={session.id} session={session} />
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Section>
  )
}

function SessionRow({ session }: { session: Session }) {
  const { t } = useTranslation('accounts')
  const end = useChange(() => deleteJson(`/api/me/sessions/${session.id}`), {
    stale: sessionsQuery.queryKey,
    done: () => t('sessions.ended'),
  })
  const browser = describeBrowser(session.userAgent) ?? t('sessions.unknown')
  return (
    <Table.Tr>
      <Table.Td>
        <Stack gap={0}>
          <Group gap="xs">
            <Text size="sm" fw={500}>
              {browser}
            </Text>
            {session.current && (
              <Badge variant="dot" color="teal">
                {t('sessions.current')}
              </Badge>
            )}
          </Group>
          <Dimmed size="xs">
            {session.ipAddress} · {t('sessions.since')} <Time value={session.createdAt} /> · {t('sessions.until')}{' '}
            <Time value={session.expiresAt} />
          </Dimmed>
        </Stack>
      </Table.Td>
      <Table.Td ta="right">
        {!session.current && (
          <Button
            variant="default"
            size="xs"
            loading={end.isPending}
            aria-label={t('sessions.endOf', { browser })}
            onClick={() => end.mutate()}
          >
            {t('sessions.end')}
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  )
}
