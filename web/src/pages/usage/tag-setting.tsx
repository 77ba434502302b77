import { Stack, Switch } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { OrganisationBody } from '@contract/operator.ts'
import { getJson, patchJson } from '../../api/client.ts'
import { changeOneField } from '../../ui/conflict/change-one-field.ts'
import { ifMatch } from '../../ui/conflict/if-match.ts'
import { openConfirm } from '../../ui/confirm.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { notifyError } from '../../ui/notify.ts'
import { useUsage } from './use-usage.ts'

/** Whether `user` and `metadata` of calls are recorded. Turning it off deletes what was recorded, so it is confirmed. */
export function TagSetting({ recordsTags, version }: { recordsTags: boolean; version: string }) {
  const { t } = useTranslation('usage')
  const { organisationId } = useUsage()
  const path = `/api/organisations/${organisationId}`
  const queryClient = useQueryClient()
  const [isOn, setOn] = useState(recordsTags)
  const change = useMutation({
    mutationFn: (recordUsageTags: boolean) =>
      changeOneField<{ version: string }>({
        view: { version },
        send: (base) => patchJson(path, { recordUsageTags }, ifMatch(base)),
        load: () => getJson<OrganisationBody>(path),
      }),
    onSuccess: async (_body, recordUsageTags) => {
      setOn(recordUsageTags)
      await queryClient.invalidateQueries({ queryKey: ['usage'] })
    },
    onError: notifyError,
  })
  return (
    <Stack gap={4}>
      <Switch
        label={t('tags.label')}
        checked={isOn}
        disabled={change.isPending}
        onChange={({ currentTarget: { checked } }) => {
          if (checked) change.mutate(true)
          else
            openConfirm({
              title: t('tags.confirmTitle'),
              text: t('tags.confirmText'),
              confirm: t('tags.confirm'),
              onConfirm: () => change.mutate(false),
            })
        }}
      />
      <Dimmed maw={720}>{t('tags.text')}</Dimmed>
    </Stack>
  )
}
