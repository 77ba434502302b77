import { Alert, Badge, Button, Group, Paper, Stack, Switch, Text } from '@mantine/core'
import { IconApi, IconPlug } from '@tabler/icons-react'
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { ToolServerBody } from '@contract/space-tools.ts'
import { deleteJson, putJson } from '../../api/client.ts'
import { useRights } from '../../app/session.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { changeOneField } from '../../ui/conflict/change-one-field.ts'
import { ifMatch } from '../../ui/conflict/if-match.ts'
import { openConfirm } from '../../ui/confirm.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { Page } from '../../ui/page.tsx'
import { toolServersQuery, toolsPath, useFreshServer, withVersion } from './queries.ts'
import { spaceToolsRoute } from './routes.tsx'
import { switchedOf } from './server-draft.ts'
import { ServerDialog } from './server-dialog.tsx'

type Opened = { kind: ToolServerBody['kind']; server?: ToolServerBody }

/** Services that answers of a Space may call. */
export function SpaceToolsPage() {
  const { t } = useTranslation('space-tools')
  const { organisationId, spaceId } = spaceToolsRoute.useParams()
  const { isAdministrator } = useRights(organisationId)
  const { data } = useSuspenseQuery(toolServersQuery(spaceId))
  const [opened, setOpened] = useState<Opened | null>(null)
  const add = isAdministrator && (
    <Group gap="xs">
      <Button leftSection={<IconPlug size={16} aria-hidden />} onClick={() => setOpened({ kind: 'mcp' })}>
        {t('addMcp')}
      </Button>
      <Button
        variant="default"
        leftSection={<IconApi size={16} aria-hidden />}
        onClick={() => setOpened({ kind: 'openapi' })}
      >
        {t('addOpenapi')}
      </Button>
    </Group>
  )
  return (
    <Page title={t('title')} description={t('description')} actions={data.items.length > 0 && add}>
      {!isAdministrator && <Alert color="gray">{t('role')}</Alert>}
      {data.items.length === 0 && <EmptyState title={t('empty')} text={t('emptyText')} action={add} />}
      <Stack component="ul" gap="sm" m={0} p={0} style={{ listStyle: 'none' }}>
        {data.items.map((server) => (
          <ServerRow
            key={server.id}
            spaceId={spaceId}
            server={server}
            isAdministrator={isAdministrator}
            onEdit={() => setOpened({ kind: server.kind, server })}
          />
        ))}
      </Stack>
      {opened && (
        <ServerDialog
          key={opened.server?.id ?? opened.kind}
          spaceId={spaceId}
          {...opened}
          onClose={() => setOpened(null)}
        />
      )}
    </Page>
  )
}

function ServerRow(props: { spaceId: string; server: ToolServerBody; isAdministrator: boolean; onEdit: () => void }) {
  const { spaceId, server, isAdministrator, onEdit } = props
  const { t } = useTranslation('space-tools')
  const format = useFormat()
  const { name, kind, url, enabled, visitors, mayChangeData, tools, readAt } = server
  const change = useChange(spaceId, server)
  const allowed = tools.filter((tool) => tool.allowed)
  const remove = () =>
    openConfirm({
      title: t('deleteTitle', { name }),
      text: t('deleteText'),
      confirm: t('delete'),
      onConfirm: () => void change.remove(),
    })
  return (
    <Paper component="li" withBorder p="md">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Stack gap={4} miw={0} style={{ flex: '1 1 260px' }}>
          <Group gap="xs">
            <Text fw={600}>{name}</Text>
            <Badge variant="light" color="gray">
              {t(`kind.${kind}`)}
            </Badge>
            {mayChangeData && (
              <Badge variant="light" color="orange">
                {t('changes')}
              </Badge>
            )}
            {visitors && (
              <Badge variant="light" color="blue">
                {t('forVisitors')}
              </Badge>
            )}
          </Group>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {url}
          </Text>
          <Dimmed>{t('count', { allowed: allowed.length, tools: tools.length, time: format.dateTime(readAt) })}</Dimmed>
        </Stack>
        {isAdministrator && (
          <Group gap="xs">
            <Switch
              label={t('enabled')}
              aria-label={t('enabledLabel', { name })}
              checked={enabled}
              disabled={change.isBusy}
              onChange={({ currentTarget }) => void change.switchTo(currentTarget.checked)}
            />
            <Button variant="default" size="xs" onClick={onEdit} aria-label={t('editLabel', { name })}>
              {t('edit')}
            </Button>
            <Button variant="default" size="xs" onClick={remove} aria-label={t('deleteLabel', { name })}>
              {t('delete')}
            </Button>
          </Group>
        )}
      </Group>
    </Paper>
  )
}

/** Changes that need no form. A server that someone else has changed is not deleted. */
function useChange(spaceId: string, server: ToolServerBody) {
  const { t } = useTranslation('space-tools')
  const client = useQueryClient()
  const [isBusy, setBusy] = useState(false)
  const path = `${toolsPath(spaceId)}/${server.id}`
  const load = useFreshServer(spaceId)
  const shown = withVersion(server)
  async function run(act: () => Promise<unknown>, done: string) {
    setBusy(true)
    try {
      await act()
      notifySuccess(done)
    } catch (error) {
      notifyError(error)
    }
    await client.invalidateQueries({ queryKey: toolServersQuery(spaceId).queryKey })
    setBusy(false)
  }
  return {
    isBusy,
    switchTo: (enabled: boolean) =>
      run(
        () =>
          changeOneField({
            view: shown,
            send: (base) => putJson(path, switchedOf(base, enabled), ifMatch(base)),
            load: () => load(server.id),
          }),
        t('saved'),
      ),
    remove: () => run(() => deleteJson(path, ifMatch(shown)), t('deleted')),
  }
}
