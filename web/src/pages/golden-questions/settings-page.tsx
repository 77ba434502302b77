import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { GoldenSettingsBody } from '@contract/golden-settings.ts'
import { patchJson } from '../../api/client.ts'
import { useRights } from '../../app/session.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { useFieldErrors } from '../../ui/field-errors.ts'
import { notifySuccess } from '../../ui/notify.ts'
import { useSpace } from '../spaces/queries.ts'
import { LeaveGuard } from '../spaces/leave-dialog.tsx'
import { GoldenFrame } from './golden-frame.tsx'
import styles from './golden.module.css'
import { goldenKey, goldenPath, goldenSettingsQuery } from './queries.ts'
import { goldenSettingsRoute } from './routes.tsx'
import { changeOf, draftOf, type SettingsDraft } from './settings-draft.ts'
import { GateFields, PassingFields, RunFields } from './settings-fields.tsx'

const fields = ['schedule', 'maximumCostUsd', 'agentic', 'filter', 'passing', 'gate']

/** Schedule and limits of runs, when a question passes, and the gate before publishing. */
export function GoldenSettingsPage() {
  const { t } = useTranslation('golden-questions')
  const format = useFormat()
  const { organisationId, spaceId } = goldenSettingsRoute.useParams()
  const { isAdministrator } = useRights(organisationId)
  const space = useSpace(spaceId)
  const { data: settings } = useSuspenseQuery(goldenSettingsQuery(spaceId))
  const [draft, setDraft] = useState(() => draftOf(settings))
  const save = useSaveSettings(spaceId)
  const { errors, attempt } = useFieldErrors(fields)
  const isDirty = JSON.stringify(changeOf(draft)) !== JSON.stringify(changeOf(draftOf(settings)))
  const change = (changed: Partial<SettingsDraft>) => setDraft((current) => ({ ...current, ...changed }))
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (await attempt(async () => setDraft(draftOf(await save.mutateAsync(draft))))) notifySuccess(t('settings.saved'))
  }
  const given = { draft, change, errors }
  return (
    <GoldenFrame>
      <form onSubmit={(event) => void submit(event)}>
        <fieldset disabled={!isAdministrator} className={styles['fields']}>
          <Stack gap="xl" maw={820}>
            {!isAdministrator && <Alert color="gray">{t('settings.role')}</Alert>}
            <RunFields {...given} requiredFilter={space.settings.requiredFilter} />
            {settings.nextRunAt !== null && (
              <Text size="sm" c="dimmed">
                {t('settings.nextRun', { time: format.dateTime(settings.nextRunAt) })}
              </Text>
            )}
            <PassingFields {...given} />
            <GateFields {...given} />
            <Group gap="sm">
              <Button type="submit" loading={save.isPending} disabled={!isDirty}>
                {t('settings.save')}
              </Button>
              {isDirty && (
                <Button variant="default" onClick={() => setDraft(draftOf(settings))}>
                  {t('settings.discard')}
                </Button>
              )}
            </Group>
          </Stack>
        </fieldset>
      </form>
      <LeaveGuard isDirty={isDirty && !save.isPending} />
    </GoldenFrame>
  )
}

function useSaveSettings(spaceId: string) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (draft: SettingsDraft) =>
      patchJson<GoldenSettingsBody>(`${goldenPath(spaceId)}/settings`, changeOf(draft)),
    onSuccess: (saved) => {
      queryClient.setQueryData(goldenSettingsQuery(spaceId).queryKey, saved)
      return queryClient.invalidateQueries({ queryKey: goldenKey(spaceId) })
    },
  })
}
