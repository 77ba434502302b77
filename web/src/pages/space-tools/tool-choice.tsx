import '@mantine/core/styles/Checkbox.css'
import '@mantine/core/styles/CheckboxIndicator.css'
import '@mantine/core/styles/CheckboxCard.css'
import { Badge, Checkbox, Group, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Dimmed } from '../../ui/dimmed.tsx'
import { isUsable, type ServerDraft, type ShownTool } from './server-draft.ts'

/** Which tools answers may use. */
export function ToolChoice(props: {
  draft: ServerDraft
  tools: readonly ShownTool[]
  onChange: (change: Partial<ServerDraft>) => void
  error: string | undefined
}) {
  const { draft, tools, onChange, error } = props
  const { t } = useTranslation('space-tools')
  const allowed = tools.filter((tool) => isUsable(tool, draft) && draft.allowed.includes(tool.name))
  const toggle = (name: string, isAllowed: boolean) =>
    onChange({ allowed: isAllowed ? [...draft.allowed, name] : draft.allowed.filter((other) => other !== name) })
  return (
    <Stack gap="xs" role="group" aria-label={t('tools')}>
      <div>
        <Text size="sm" fw={600}>
          {t('tools')}
        </Text>
        <Dimmed size="xs">{tools.length === 0 ? t('toolsNone') : t('toolsHint', { allowed: allowed.length })}</Dimmed>
      </div>
      {error && (
        <Text size="sm" c="red" role="alert">
          {error}
        </Text>
      )}
      {tools.map((tool) => (
        <Checkbox
          key={tool.name}
          checked={allowed.includes(tool)}
          disabled={!isUsable(tool, draft)}
          onChange={({ currentTarget }) => toggle(tool.name, currentTarget.checked)}
          label={
            <Group gap={6}>
              <Text size="sm" fw={500} style={{ overflowWrap: 'anywhere' }}>
                {tool.name}
              </Text>
              {tool.changesData && (
                <Badge size="sm" variant="light" color="orange">
                  {t('changes')}
                </Badge>
              )}
              {tool.problem && (
                <Badge size="sm" variant="light" color="gray">
                  {t(`problem.${tool.problem}`)}
                </Badge>
              )}
            </Group>
          }
          description={<span style={{ overflowWrap: 'anywhere' }}>{tool.description.slice(0, 200)}</span>}
        />
      ))}
    </Stack>
  )
}
