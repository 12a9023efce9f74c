// Command ffmpeg is the guest of the ffmpeg skill: it looks at, converts,
// compresses, cuts and joins video and sound, with ffmpeg as an engine. It is
// built as a WebAssembly module; natively it does nothing.
package main

import (
	"stepbox.dev/guest-sdk"
	"stepbox.dev/guest-sdk/steps"
)

var served = guest.Serve(guest.Skill{Tools: []guest.Tool{
	guest.Intent("prepare_for_platform", expandPrepare).Summary(prepareSummary),
	guest.Intent("compress_video", expandCompress).Summary(compressSummary),
	guest.Intent("convert_video", expandConvert).Summary(convertSummary),
	guest.Intent("resize_video", expandResize).Summary(resizeSummary),
	guest.Intent("trim_video", expandTrim).Summary(trimSummary),
	guest.Intent("extract_audio", expandExtract).Summary(extractSummary),
	guest.Intent("create_thumbnail", expandThumbnail).Summary(thumbnailSummary),
	guest.Intent("reverse_video", expandReverse).Summary(reverseSummary),
	guest.Intent("strip_audio", expandStrip).Summary(stripSummary),
	guest.Intent("adjust_speed", expandSpeed).Summary(speedSummary),
	guest.Intent("adjust_volume", expandVolume).Summary(volumeSummary),
	guest.Intent("rotate_video", expandRotate).Summary(rotateSummary),
	guest.Intent("concat_video", expandConcat).Summary(concatSummary),
	guest.Intent("inspect_media", expandInspect).Summary(inspectSummary),

	steps.ResolveInputs(),
	guest.Step("probe_media", probeMedia).Format(formatMedia),
	guest.Step("load_platform_profile", loadPlatform),
	guest.Step("load_quality_profile", loadQuality).Preflight(encoders),
	guest.Step("build_recipes", buildRecipes),
	guest.Step("run_preview", runPreview),
	guest.Step("run_batch", runBatch).Format(formatMade),
}})

func main() {}
