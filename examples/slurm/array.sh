#!/usr/bin/env bash
# One run for each value of a parameter, each with files of its own:
#   sbatch --array=0-4 path/to/array.sh model.yaml left.m 1 2 5 10 20
#SBATCH --job-name=concord-array
#SBATCH --ntasks=1
#SBATCH --output=concord-%a.log

model=${1:?give a model file} parameter=${2:?give the name of a parameter}
values=("${@:3}")
value=${values[$SLURM_ARRAY_TASK_ID]}
name=$(basename "$model" .yaml)-$SLURM_ARRAY_TASK_ID

exec mpirun -n "$SLURM_NTASKS" "${CONCORD:-concord}" run "$model" --set "$parameter=$value" \
  -cosim_output "$name.h5" -cosim_checkpoint "$name.chk" -cosim_restart auto
