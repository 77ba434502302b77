/** Everything is fixed, so the layout of the website does not move. */
export const styles = `
:host{all:initial;position:fixed;z-index:2147483000;inset-block-end:calc(20px + env(safe-area-inset-bottom) + var(--place,0)*68px);right:calc(20px + env(safe-area-inset-right))}
:host([data-position=left]){right:auto;left:calc(20px + env(safe-area-inset-left))}
@media print{:host{display:none}}
[hidden]{display:none!important}
.launcher{position:relative;display:grid;place-items:center;width:56px;height:56px;padding:0;border:0;border-radius:50%;background:var(--portico-fill,#2f6f73);color:var(--portico-on-fill,#fff);box-shadow:0 4px 16px rgb(0 0 0/25%);cursor:pointer;transition:transform .15s}
.launcher:hover{transform:scale(1.05)}
.launcher:focus-visible{outline:3px solid var(--portico-fill,#2f6f73);outline-offset:3px;box-shadow:0 0 0 3px #fff,0 4px 16px rgb(0 0 0/25%)}
svg{width:26px;height:26px;fill:none;stroke:currentColor;stroke-width:1.9;stroke-linecap:round;stroke-linejoin:round}
.close,[aria-expanded=true] .chat{display:none}
[aria-expanded=true] .close{display:inline}
.badge{position:absolute;top:-4px;right:-4px;min-width:20px;padding:0 5px;box-sizing:border-box;border-radius:10px;background:#b42318;color:#fff;font:600 12px/20px system-ui,sans-serif;text-align:center}
.panel{position:absolute;inset-block-end:72px;right:0;width:400px;height:min(660px,calc(100vh - 120px));overflow:hidden;border:1px solid rgb(127 127 127/30%);border-radius:16px;background:Canvas;box-shadow:0 12px 40px rgb(0 0 0/25%);animation:rise .18s ease-out}
:host([data-position=left]) .panel{right:auto;left:0}
iframe{display:block;width:100%;height:100%;border:0}
:host([data-full]) .panel{position:fixed;inset:0;width:100%;height:100%;border:0;border-radius:0}
:host([data-full]) .launcher{display:none}
@keyframes rise{from{opacity:0;transform:translateY(8px)}}
@media(prefers-reduced-motion:reduce){.launcher,.panel{transition:none;animation:none}}
`
